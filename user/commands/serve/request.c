// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "serve/channel.h"

#define MOST_DIGITS 8 /* of a function's number */

int token__make(char token[TOKEN_SIZE])
{
	uint8_t bytes[(TOKEN_SIZE - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* The rest of the path behind "/TOKEN"; NULL: it does not begin so. The comparison takes equally
 * long whatever part of the token was right. */
static const char *behind_token(const char *path, const char *token)
{
	size_t len = strlen(token);
	unsigned char differs = 0;

	if (!len)
		return path;
	if (*path != '/' || strnlen(path + 1, len) < len)
		return NULL;
	for (size_t i = 0; i < len; i++)
		differs |= path[1 + i] ^ token[i];
	return differs ? NULL : path + 1 + len;
}

/* Who may look without a token may look by an address, or by a name of this machine: any other name
 * may be one that a stranger's site has in the DNS for an address of ours. */
static bool is_own_name(const char *host)
{
	char name[256], own[256] = "";
	struct in6_addr address;
	const char *colon = strrchr(host, ':'), *end = host + strlen(host);

	if (colon && !strchr(colon, ']'))
		end = colon;
	if ((size_t)(end - host) >= sizeof(name))
		return false;
	memcpy(name, host, end - host);
	name[end - host] = '\0';
	gethostname(own, sizeof(own) - 1);
	return *name == '[' || inet_pton(AF_INET, name, &address) == 1 ||
	       !strcasecmp(name, "localhost") || !strcasecmp(name, own);
}

/* Browsers name the site whose script asks for another site's data, and for none of their own. */
static bool is_of_page(const char *origin, const char *host)
{
	static const char scheme[] = "http://";

	return !origin || (host && !strncmp(origin, scheme, sizeof(scheme) - 1) &&
			   !strcasecmp(origin + sizeof(scheme) - 1, host));
}

/* "123", "123/all" or "none". */
static bool parse_zoom(const char *text, struct channel_ask *wish)
{
	size_t digits = strspn(text, "0123456789");

	*wish = (struct channel_ask){.wish = WISH_RELEASE};
	if (!strcmp(text, "none"))
		return true;
	if (!digits || digits > MOST_DIGITS)
		return false;
	for (size_t i = 0; i < digits; i++)
		wish->function = 10 * wish->function + (uint32_t)(text[i] - '0');
	wish->wish = text[digits] ? WISH_ZOOM_ALL : WISH_ZOOM;
	return !text[digits] || !strcmp(text + digits, "/all");
}

/* Whoever may only look may not wish; nor may a program that is no page of ours, as browsers name
 * the site of every POST. */
static enum answer judge_wish(const struct request *r, const char *token, const char *what,
			      struct channel_ask *wish)
{
	static const char zoom[] = "/zoom/";

	if (!*token || !what || strncmp(what, zoom, sizeof(zoom) - 1) ||
	    !parse_zoom(what + sizeof(zoom) - 1, wish))
		return ANSWER_OTHER_METHOD;
	return r->origin && is_of_page(r->origin, r->host) ? ANSWER_WISH : ANSWER_FORBIDDEN;
}

enum answer request__judge(const struct request *r, const char *token, struct channel_ask *wish)
{
	const char *what = behind_token(r->path, token);

	if (!strcmp(r->method, "POST"))
		return judge_wish(r, token, what, wish);
	if (strcmp(r->method, "GET") && strcmp(r->method, "HEAD"))
		return ANSWER_OTHER_METHOD;
	if (!is_of_page(r->origin, r->host) || (!*token && (!r->host || !is_own_name(r->host))))
		return ANSWER_FORBIDDEN;
	if (what && !strcmp(what, "/"))
		return ANSWER_PAGE;
	return what && !strcmp(what, "/events") ? ANSWER_EVENTS : ANSWER_NOTHING;
}

enum answer request__judge_scrape(const struct request *r, bool any_host)
{
	if (strcmp(r->method, "GET") && strcmp(r->method, "HEAD"))
		return ANSWER_OTHER_METHOD;
	if (r->origin || (!any_host && (!r->host || !is_own_name(r->host))))
		return ANSWER_FORBIDDEN;
	return strcmp(r->path, "/metrics") ? ANSWER_NOTHING : ANSWER_PAGE;
}
