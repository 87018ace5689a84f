/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interface of a kind of receiver: a row in receiver.c. Inside fleet/ only. */
#ifndef PROFTRACE_FLEET_KIND_H
#define PROFTRACE_FLEET_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "fleet/result.h"

struct http;
struct receiver;
struct recorded;
struct sessions;
struct url;

/* One run, to be sent. */
struct shipment {
	const struct recorded *run;		       /* its profile is linked and summarized */
	const char *service, *version, *host, *kernel; /* never NULL */
	uint64_t id;
	bool fresh;
	const struct sessions *sessions; /* NULL: none are asked for, or there are none */
	uint64_t span_min_ns; /* calls of these that took less are left out; 0: some share */
};

/* A kind of receiver. `own` is what it keeps from one shipment to the next. */
struct receiver_kind {
	const char *scheme, *tls_scheme;
	uint16_t port, tls_port;
	/* Checks the URL's path. Returns 0, or -errno with one line logged. NULL: the kind keeps
	 * nothing. */
	int (*open)(const struct url *u, void **own);
	void (*free)(void *own);
	bool shows_sessions; /* it has something to do with shipment::sessions */
	/* Says why not by receiver__fail() or receiver__judge(). */
	enum receiver_result (*send)(struct receiver *r, void *own, const struct shipment *s);
};

extern const struct receiver_kind receiver_clickhouse, receiver_otlp, receiver_pyroscope,
	receiver_parca;

struct http *receiver__http(struct receiver *r);

/* The result of a status by http__ask(): which statuses mean that the same will never be taken, and
 * which that it may be later. Says why. */
enum receiver_result receiver__judge(struct receiver *r, int status);

/* Says something of a recording that was sent even so: what was rejected, or left out. One line, to
 * which later ones are added as far as there is room. */
void receiver__add_note(struct receiver *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Says why not, and returns `result`. */
enum receiver_result receiver__fail(struct receiver *r, enum receiver_result result,
				    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
