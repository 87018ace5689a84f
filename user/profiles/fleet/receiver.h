/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends recordings to programs that keep the profiles of many machines. A receiver is named by a
 * URL:
 *
 *	clickhouse://[USER@]HOST[:8123]/DATABASE  ClickHouse by HTTP; clickhouses:// (8443) by TLS
 *	otlp+http://HOST[:4318][/PREFIX]          OpenTelemetry's protocol; otlp+https://
 *	pyroscope+http://HOST[:4040]              Pyroscope's /ingest; pyroscope+https://
 *	parca+http://HOST[:7070]                  Parca's API to write profiles; parca+https://
 *
 * No threads: a call returns when all is done, at the latest after a time that the options bound.
 * Any thread may call, one receiver at a time.
 */
#ifndef PROFTRACE_FLEET_RECEIVER_H
#define PROFTRACE_FLEET_RECEIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "fleet/result.h"

struct profile;
struct receiver;
struct sessions;

/* Strings are copied; NULL where there is none. */
struct receiver_options {
	/* The password of the URL's user, or a bearer token if the URL has no user. A password in
	 * the URL itself is taken, too, but others can see command lines. */
	const char *secret;
	const char *ca_file; /* certificates to trust in place of the system's; PEM */
	uint32_t timeout_s;  /* for one request, from connecting to its answer; 0: 30 */
};

/* Labels that a recording does not have itself. Borrowed during the call. */
struct recording_labels {
	const char *service; /* NULL: by the recording's target, "nginx" */
	const char *version; /* of the service; NULL: "" */
	const char *host;    /* NULL: as recorded */
	/* Tells profiles apart, so that one that is sent twice does not count twice; 0: made of
	 * what the file holds, which does as long as it is not written to any more. */
	uint64_t id;
	/* Nobody has ever tried to send it there: the receiver need not be asked whether it knows
	 * it. When in doubt false. */
	bool fresh;
	/* Finds the sessions of a run with single calls that receivers get which take some: sets
	 * *out, which is freed here, and returns 0, or -errno with one line logged. NULL: none. */
	int (*find_sessions)(const void *ctx, const struct profile *p, struct sessions **out);
	const void *sessions_ctx;
	uint64_t span_min_ns; /* calls of a session that took less are not sent; 0: a hundredth */
};

/* Understands the URL; connects to nothing yet. Returns 0, or -errno with one line logged. */
int receiver__open(const char *url, const struct receiver_options *o, struct receiver **out);
void receiver__free(struct receiver *r); /* accepts NULL */

/* The URL without secrets, for messages. */
const char *receiver__name(const struct receiver *r);

/* Sends all whole runs of a recording. Logs nothing of the receiver's: see receiver__error(). */
enum receiver_result receiver__send(struct receiver *r, const char *path,
				    const struct recording_labels *labels);

/* Why the last one was not sent: one line, printable, until the next call. */
const char *receiver__error(const struct receiver *r);

/* A remark on the last recording although it was sent, such as a part that was rejected: one line,
 * printable, until the next call; "": none. */
const char *receiver__note(const struct receiver *r);

/* In how many seconds the last one may be tried again: as the receiver has asked for, or
 * UINT32_MAX, if it has said nothing that sounds like it (429, 502, 503, 504). */
uint32_t receiver__retry_s(const struct receiver *r);

/* Whether it has a place for sessions. */
bool receiver__takes_sessions(const struct receiver *r);

/* Bytes that went over the wire so far, as compressed, without headers. */
uint64_t receiver__bytes(const struct receiver *r);

#endif
