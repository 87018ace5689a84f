/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What OTLP's messages of all three signals share. They are those of opentelemetry-proto 1.11:
 * ResourceSpans, ResourceMetrics and ResourceProfiles are alike, and so are their scopes. Inside
 * fleet/otlp/ only, and for its tests.
 */
#ifndef PROFTRACE_FLEET_OTLP_MESSAGE_H
#define PROFTRACE_FLEET_OTLP_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "util/proto.h"

struct profile;
struct shipment;

/* Larger requests are not made: receivers need take no more than 64 MiB, before compression. */
#define OTLP_REQUEST_MAX (32u << 20)

/* Adds an attribute to a message, as its field of that number: "service.name": "api". */
void otlp_put_text(struct proto *m, uint32_t field, const char *key, const char *value);
void otlp_put_int(struct proto *m, uint32_t field, const char *key, int64_t value);

/* A value of one of both kinds, as a message AnyValue. */
void otlp_value_text(struct proto *m, const char *value);
void otlp_value_int(struct proto *m, int64_t value);

/* Makes a request of its only scope's content: spans, metrics or profiles. Empties `content`. */
void otlp_wrap(struct proto *request, const struct shipment *s, struct proto *content);

/* Times of a profile, in ns since 1970. */
uint64_t otlp_start_ns(const struct profile *p);
uint64_t otlp_end_ns(const struct profile *p);

#define OTLP_TRACE_ID 16
#define OTLP_SPAN_ID  8

/* Ids that are the same each time a recording is sent, and in all likelihood nowhere else; never
 * all zero. `what` tells those of one recording apart. */
void otlp_trace_id(uint8_t id[OTLP_TRACE_ID], uint64_t recording, uint64_t what);
void otlp_span_id(uint8_t id[OTLP_SPAN_ID], uint64_t recording, uint64_t session, uint64_t call);

/* The message of one signal for a recording. */
struct otlp_request {
	struct proto body;
	/* Items as receivers count them where they reject some: profiles, spans, data points. 0:
	 * there is nothing to send. */
	uint64_t cnt;
	uint64_t left_out; /* paths, sessions or functions for which there was no room */
};

/* Return 0 or -ENOMEM; the caller frees the body, whatever comes. */
int otlp_profiles(const struct shipment *s, struct otlp_request *r);
int otlp_traces(const struct shipment *s, struct otlp_request *r);
int otlp_metrics(const struct shipment *s, struct otlp_request *r);

#endif
