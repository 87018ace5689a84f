// SPDX-License-Identifier: GPL-2.0-or-later
#define CURL_DISABLE_TYPECHECK /* which looks for functions by their names */
#include "fleet/http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/url.h"
#include "sink/gzip.h"
#include "util/log.h"
#include "util/text.h"

#define CONNECT_S      10
#define MESSAGE_MAX    (64 << 10) /* bytes of an answer that is read for its first line */
#define ERROR_LINE     512
#define DEFAULT_WAIT_S 30

#define FUNCTIONS(X)          \
	X(curl_global_init)   \
	X(curl_easy_init)     \
	X(curl_easy_reset)    \
	X(curl_easy_setopt)   \
	X(curl_easy_perform)  \
	X(curl_easy_getinfo)  \
	X(curl_easy_strerror) \
	X(curl_easy_cleanup)  \
	X(curl_slist_append)  \
	X(curl_slist_free_all)

#define MEMBER(name) typeof(name) *name;
static struct {
	FUNCTIONS(MEMBER)
} lib;
static bool loaded;
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

struct http {
	CURL *curl;
	char *base; /* http://HOST:PORT */
	const char *user;
	char *secret, *ca_file;
	uint32_t timeout_s;
	char *answer;
	size_t len, cap, max;
	bool too_long;
	int status; /* of the answer; negative: none */
	uint32_t retry_after_s;
	uint64_t bytes;
	char curl_error[CURL_ERROR_SIZE];
	char error[ERROR_LINE];
};

static void load(void)
{
	/* The second is Debian's with GnuTLS. */
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
	void *handle = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !handle; i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return;
	loaded = true;
#define FIND(name) loaded = loaded && (lib.name = (typeof(lib.name))dlsym(handle, #name));
	FUNCTIONS(FIND)
	loaded = loaded && !lib.curl_global_init(CURL_GLOBAL_DEFAULT);
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

int http__open(const struct url *u, const struct http_options *o, struct http **out)
{
	const char *secret = u->password ? u->password : o->secret;
	struct http *h;

	pthread_once(&load_once, load);
	if (!loaded) {
		log_error("%s: sending takes libcurl (libcurl.so.4), which is not there: install "
			  "it, on Debian as libcurl4",
			  u->shown);
		return -ENOENT;
	}
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	*out = h;
	h->curl = lib.curl_easy_init();
	h->user = u->user;
	h->secret = copy(secret);
	h->ca_file = copy(o->ca_file);
	h->timeout_s = o->timeout_s ? o->timeout_s : DEFAULT_WAIT_S;
	if (asprintf(&h->base, "%s://%s:%u", o->tls ? "https" : "http", u->host,
		     u->port ? u->port : o->port) < 0)
		h->base = NULL;
	if (h->curl && h->base && !h->secret == !secret && !h->ca_file == !o->ca_file)
		return 0;
	http__free(h);
	*out = NULL;
	return -ENOMEM;
}

void http__free(struct http *h)
{
	if (!h)
		return;
	if (h->curl)
		lib.curl_easy_cleanup(h->curl);
	if (h->secret)
		explicit_bzero(h->secret, strlen(h->secret));
	free(h->secret);
	free(h->ca_file);
	free(h->base);
	free(h->answer);
	free(h);
}

/* Takes part of an answer; what does not fit ends the transfer. */
static size_t take(char *data, size_t size, size_t cnt, void *http)
{
	struct http *h = http;
	size_t len = size * cnt;

	if (len > h->max - h->len) {
		h->too_long = true;
		return 0;
	}
	if (h->len + len + 1 > h->cap) {
		size_t cap = 2 * (h->len + len + 1);
		char *grown = realloc(h->answer, cap);

		if (!grown)
			return 0;
		h->answer = grown;
		h->cap = cap;
	}
	memcpy(h->answer + h->len, data, len);
	h->len += len;
	h->answer[h->len] = 0;
	return len;
}

/* A body on its way. */
struct upload {
	const char *at;
	size_t left;
};

static size_t give(char *to, size_t size, size_t cnt, void *upload)
{
	struct upload *u = upload;
	size_t len = size * cnt < u->left ? size * cnt : u->left;

	memcpy(to, u->at, len);
	u->at += len;
	u->left -= len;
	return len;
}

/* libcurl asks for this when a connection that was kept open breaks before there is an answer: it
 * would send the body once more, by a new connection. But the server may have taken the first one,
 * and only who sends knows whether that does any harm. */
static int refuse_to_go_back(void *upload, curl_off_t offset, int origin)
{
	return CURL_SEEKFUNC_FAIL;
}

static int compress(const struct http_request *r, char **data, size_t *len)
{
	FILE *out = open_memstream(data, len);
	struct gzip *gz = NULL;
	int err = out ? gzip__open(out, &gz) : -ENOMEM;

	if (!err)
		gzip__write(gz, r->body, r->len);
	gzip__close(gz);
	if (out && (ferror(out) | fclose(out)))
		err = -ENOMEM;
	return err;
}

static bool add(struct curl_slist **list, const char *header)
{
	struct curl_slist *longer = lib.curl_slist_append(*list, header);

	if (longer)
		*list = longer;
	return longer;
}

/* Returns NULL if there is no memory. */
static struct curl_slist *make_headers(const struct http_request *r)
{
	struct curl_slist *list = NULL;
	char type[128];
	bool ok = add(&list, "Expect:"); /* a server that is slow to say "go on" costs a second */

	snprintf(type, sizeof(type), "Content-Type: %s", r->content_type ? r->content_type : "");
	if (r->body)
		ok = ok && add(&list, type);
	if (r->body && r->gzip)
		ok = ok && add(&list, "Content-Encoding: gzip");
	for (size_t i = 0; r->headers[i]; i++)
		ok = ok && add(&list, r->headers[i]);
	if (ok)
		return list;
	lib.curl_slist_free_all(list);
	return NULL;
}

static void set_options(struct http *h, const char *url, struct curl_slist *headers)
{
	CURL *c = h->curl;

	lib.curl_easy_setopt(c, CURLOPT_URL, url);
	lib.curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	lib.curl_easy_setopt(c, CURLOPT_USERAGENT, "proftrace/" PROFTRACE_VERSION);
	lib.curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	lib.curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	lib.curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	lib.curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)h->timeout_s);
	lib.curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
	lib.curl_easy_setopt(c, CURLOPT_WRITEDATA, h);
	lib.curl_easy_setopt(c, CURLOPT_ERRORBUFFER, h->curl_error);
	if (h->ca_file)
		lib.curl_easy_setopt(c, CURLOPT_CAINFO, h->ca_file);
	if (h->user) {
		lib.curl_easy_setopt(c, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		lib.curl_easy_setopt(c, CURLOPT_USERNAME, h->user);
		lib.curl_easy_setopt(c, CURLOPT_PASSWORD, h->secret ? h->secret : "");
	} else if (h->secret) {
		lib.curl_easy_setopt(c, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
		lib.curl_easy_setopt(c, CURLOPT_XOAUTH2_BEARER, h->secret);
	}
}

static int no_answer(struct http *h, const char *why)
{
	snprintf(h->error, sizeof(h->error), "%s", why);
	return h->status = -EIO;
}

/* `body` is as it goes over the wire. */
static int perform(struct http *h, const char *url, struct curl_slist *headers, const void *body,
		   size_t len)
{
	struct upload upload = {body, len};
	curl_off_t sent = 0, after_s = 0;
	long status = 0;
	CURLcode code;

	set_options(h, url, headers);
	if (body) {
		lib.curl_easy_setopt(h->curl, CURLOPT_POST, 1L);
		lib.curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
		lib.curl_easy_setopt(h->curl, CURLOPT_READFUNCTION, give);
		lib.curl_easy_setopt(h->curl, CURLOPT_READDATA, &upload);
		lib.curl_easy_setopt(h->curl, CURLOPT_SEEKFUNCTION, refuse_to_go_back);
	}
	code = lib.curl_easy_perform(h->curl);
	lib.curl_easy_getinfo(h->curl, CURLINFO_SIZE_UPLOAD_T, &sent);
	h->bytes += sent;
	if (h->too_long)
		return no_answer(h, "its answer is longer than makes sense");
	if (code == CURLE_SEND_FAIL_REWIND)
		return no_answer(h, "the connection broke before there was an answer");
	if (code)
		return no_answer(h, *h->curl_error ? h->curl_error : lib.curl_easy_strerror(code));
	lib.curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
	/* A number or a date; 0 with libraries that do not know it. */
	lib.curl_easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &after_s);
	h->retry_after_s = after_s > 0 && after_s < UINT32_MAX ? (uint32_t)after_s : 0;
	return h->status = (int)status;
}

int http__ask(struct http *h, const struct http_request *r)
{
	struct curl_slist *headers = make_headers(r);
	const void *body = r->body;
	size_t len = r->len;
	char *url = NULL, *packed = NULL;
	int err = headers && asprintf(&url, "%s%s", h->base, r->target) >= 0 ? 0 : -ENOMEM;

	h->len = 0;
	h->retry_after_s = 0;
	h->max = r->answer_max ? r->answer_max : MESSAGE_MAX;
	h->too_long = false;
	*h->error = *h->curl_error = 0;
	if (!err && body && r->gzip) {
		err = compress(r, &packed, &len);
		body = packed;
	}
	/* The connection stays open. */
	lib.curl_easy_reset(h->curl);
	if (err)
		no_answer(h, "out of memory");
	else
		perform(h, url, headers, body, len);
	lib.curl_slist_free_all(headers);
	free(packed);
	free(url);
	return h->status;
}

uint32_t http__retry_after_s(const struct http *h)
{
	return h->retry_after_s;
}

int http__status(const struct http *h)
{
	return h->status;
}

char *http__answer(struct http *h, size_t *len)
{
	static char nothing[1];

	*len = h->len;
	return h->len ? h->answer : nothing;
}

const char *http__error(struct http *h)
{
	char said[ERROR_LINE], shown[ERROR_LINE - 64];
	size_t len;
	const char *body = http__answer(h, &len);

	snprintf(said, sizeof(said), "%.*s", (int)strcspn(body, "\r\n"), body);
	if (h->status < 0) {
		snprintf(said, sizeof(said), "%s", h->error);
		return text_escape(said, h->error, sizeof(h->error));
	}
	text_escape(said, shown, sizeof(shown));
	if (h->status / 100 == 3)
		snprintf(h->error, sizeof(h->error),
			 "it redirects (status %d), which is not followed: name the right place",
			 h->status);
	else
		snprintf(h->error, sizeof(h->error), "status %d%s%s", h->status, *shown ? ": " : "",
			 shown);
	return h->error;
}

uint64_t http__bytes(const struct http *h)
{
	return h->bytes;
}

char *http__encode(const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
	char *out = malloc(3 * strlen(text) + 1), *to = out;

	for (; out && *text; text++) {
		if (strchr(plain, *text))
			*to++ = *text;
		else
			to += sprintf(to, "%%%02X", (unsigned char)*text);
	}
	if (out)
		*to = 0;
	return out;
}
