// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/url.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS	   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS	   "0123456789"
#define HOST_CHARS LETTERS DIGITS "-._"
#define PATH_CHARS LETTERS DIGITS "-._~/%+,=@:"

static bool consists_of(const char *text, const char *chars)
{
	return *text && !text[strspn(text, chars)];
}

/* In place. Returns false at a % without two digits, and at %00. */
static bool decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		char digits[3] = "";

		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		if (!isxdigit((unsigned char)from[1]) || !isxdigit((unsigned char)from[2]))
			return false;
		memcpy(digits, from + 1, 2);
		*to = (char)strtoul(digits, NULL, 16);
		if (!*to++)
			return false;
		from += 2;
	}
	*to = 0;
	return true;
}

/* Takes "USER[:PASSWORD]". */
static const char *take_user(struct url *u, char *text)
{
	char *colon = strchr(text, ':');

	if (colon) {
		*colon = 0;
		u->password = strdup(colon + 1);
	}
	u->user = strdup(text);
	if (!u->user || (colon && !u->password))
		return "";
	if (!*u->user || !decode(u->user) || (colon && !decode(u->password)))
		return "its user or password is not understood: %XX stands for what is special";
	return NULL;
}

/* Takes "HOST[:PORT]". */
static const char *take_host(struct url *u, char *text)
{
	char *colon = strrchr(text, ':'), *end = strrchr(text, ']');
	unsigned long port;
	bool good;

	if (colon && (!end || end < colon)) {
		*colon = 0;
		port = consists_of(colon + 1, DIGITS) ? strtoul(colon + 1, NULL, 10) : 0;
		if (!port || port > UINT16_MAX)
			return "its port is no number from 1 to 65535";
		u->port = port;
	}
	good = end ? *text == '[' && !end[1] &&
			       strspn(text + 1, DIGITS "abcdefABCDEF:.") == (size_t)(end - text - 1)
		   : consists_of(text, HOST_CHARS);
	if (!good)
		return "it names no host";
	u->host = strdup(text);
	return u->host ? NULL : "";
}

static const char *take_path(struct url *u, const char *text)
{
	size_t len = strlen(text);

	while (len && text[len - 1] == '/')
		len--;
	u->path = len ? strndup(text, len) : strdup("/");
	if (!u->path)
		return "";
	return consists_of(u->path, PATH_CHARS) ? NULL
						: "its path has characters that belong there "
						  "as %XX only";
}

/* `text` is cut to pieces. Returns what is wrong, "" if there was no memory. */
static const char *take(struct url *u, char *text)
{
	char *sep = strstr(text, "://"), *at, *slash;
	const char *wrong;

	if (!sep)
		return "it does not begin as clickhouse:// does";
	*sep = 0;
	u->scheme = strdup(text);
	if (!u->scheme)
		return "";
	text = sep + 3;
	slash = strchr(text, '/');
	wrong = take_path(u, slash ? slash : "");
	if (wrong)
		return wrong;
	if (slash)
		*slash = 0;
	at = strrchr(text, '@');
	if (at) {
		*at = 0;
		wrong = take_user(u, text);
		text = at + 1;
	}
	return wrong ? wrong : take_host(u, text);
}

static int show(struct url *u)
{
	char port[8] = "";

	if (u->port)
		snprintf(port, sizeof(port), ":%u", u->port);
	return asprintf(&u->shown, "%s://%s%s%s", u->scheme, u->host, port, u->path) < 0 ? -ENOMEM
											 : 0;
}

int url__parse(struct url *u, const char *text, const char **why)
{
	char *copy = strdup(text);

	*u = (struct url){0};
	*why = copy ? take(u, copy) : "";
	if (copy)
		explicit_bzero(copy, strlen(text));
	free(copy);
	if (*why)
		return **why ? -EINVAL : -ENOMEM;
	return show(u);
}

void url__clear(struct url *u)
{
	if (u->password)
		explicit_bzero(u->password, strlen(u->password));
	free(u->scheme);
	free(u->host);
	free(u->user);
	free(u->password);
	free(u->path);
	free(u->shown);
	*u = (struct url){0};
}
