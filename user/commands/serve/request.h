/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers to viewers' requests. Inside serve/ only. */
#ifndef PROFTRACE_SERVE_REQUEST_H
#define PROFTRACE_SERVE_REQUEST_H

#include <stdbool.h>

struct channel_ask;

#define TOKEN_SIZE 33 /* 128 bits in hex, and the NUL */

struct request {
	const char *method, *path;
	const char *host, *origin; /* headers; NULL: not there */
};

enum answer {
	ANSWER_PAGE,
	ANSWER_EVENTS,
	ANSWER_NOTHING,	     /* 404, also to a wrong token: which it is stays unknown */
	ANSWER_OTHER_METHOD, /* 405 */
	ANSWER_FORBIDDEN,    /* 403: another site's script asks, or by a name that may be its own */
	ANSWER_WISH,	     /* 204: what is wished is handed on */
	ANSWER_LATER,	     /* 503: a wish cannot be handed on now */
	ANSWERS,
};

/* Makes one by chance. Returns 0 or -errno. */
int token__make(char token[TOKEN_SIZE]);

/*
 * Paths are /TOKEN/ and /TOKEN/events; with an empty token, / and /events. Wishes are POSTed, by
 * the page's own script and with a token alone, to /TOKEN/zoom/123 (the function of that number is
 * to be exact, with what it calls), /TOKEN/zoom/123/all (whatever that costs) and /TOKEN/zoom/none:
 * then *wish is set.
 */
enum answer request__judge(const struct request *r, const char *token, struct channel_ask *wish);

/* The same of metrics: /metrics is the page. `any_host`: by whatever name we are called; else it is
 * one of this machine's, as only this machine reaches us. Scripts of sites get nothing. */
enum answer request__judge_scrape(const struct request *r, bool any_host);

#endif
