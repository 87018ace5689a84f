/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP as a client, by libcurl, which is loaded when the first receiver is opened: who sends
 * nothing needs none. TLS is verified, redirects are not followed, and each request has a limit of
 * time and an answer a limit of size. Inside fleet/ only.
 */
#ifndef PROFTRACE_FLEET_HTTP_H
#define PROFTRACE_FLEET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http;
struct url;

struct http_options {
	bool tls;
	uint16_t port;	     /* where the URL has none */
	const char *secret;  /* see fleet/receiver.h */
	const char *ca_file; /* NULL: the system's */
	uint32_t timeout_s;
};

#define HTTP_HEADERS_MAX 4

struct http_request {
	const char *target;	  /* path and query, encoded; begins with a slash */
	const char *content_type; /* of the body; NULL: none */
	const char *headers[HTTP_HEADERS_MAX + 1]; /* more: "Name: value"; NULL-terminated */
	const void *body;			   /* NULL: GET */
	size_t len;
	bool gzip;	   /* the body is to be compressed; it is not yet */
	size_t answer_max; /* bytes; 0: some that are enough for a message */
};

/* Logs one line if that fails: no library, no memory. Options are copied; the URL has to last. */
int http__open(const struct url *u, const struct http_options *o, struct http **out);
void http__free(struct http *h); /* accepts NULL */

/* Asks once. Returns the status, as 200; or a negative number if there was no answer, or no whole
 * one, which http__error() tells of. */
int http__ask(struct http *h, const struct http_request *r);

/* How many seconds the last answer asked to wait before the next request (Retry-After); 0: it did
 * not. */
uint32_t http__retry_after_s(const struct http *h);

/* The status of the last answer, as 200; negative: there was none. */
int http__status(const struct http *h);

/* The body of the last answer, behind whose `len` bytes there is a NUL; until the next request. */
char *http__answer(struct http *h, size_t *len);

/* Why the last request failed, or what is to be read of the status and body of its answer: one
 * line, printable. */
const char *http__error(struct http *h);

/* Bytes of all bodies sent. */
uint64_t http__bytes(const struct http *h);

/* `text` as part of a query, %XX for what is special. NULL: no memory. The caller frees it. */
char *http__encode(const char *text);

#endif
