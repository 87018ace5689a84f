// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/otlp/message.h"

#include <string.h>

#include "calls/profile.h"
#include "fleet/kind.h"
#include "record/reader.h"
#include "util/hash.h"
#include "util/proto.h"

/* Field numbers, by message. */
enum {
	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2,
	ANY_VALUE_STRING = 1,
	ANY_VALUE_INT = 3,
	REQUEST_RESOURCE_ITEMS = 1,
	RESOURCE_ITEMS_RESOURCE = 1,
	RESOURCE_ITEMS_SCOPE_ITEMS = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_ITEMS_SCOPE = 1,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
};

#define SPLIT 0x9e3779b97f4a7c15 /* the golden ratio: two halves of an id are two hashes */

void otlp_value_text(struct proto *m, const char *value)
{
	proto_text(m, ANY_VALUE_STRING, value);
}

void otlp_value_int(struct proto *m, int64_t value)
{
	proto_u64(m, ANY_VALUE_INT, (uint64_t)value);
}

/* Empties `value`. */
static void put(struct proto *m, uint32_t field, const char *key, struct proto *value)
{
	struct proto pair = {0};

	proto_text(&pair, KEY_VALUE_KEY, key);
	proto_message(&pair, KEY_VALUE_VALUE, value);
	proto_message(m, field, &pair);
	proto_free(&pair);
}

void otlp_put_text(struct proto *m, uint32_t field, const char *key, const char *value)
{
	struct proto any = {0};

	otlp_value_text(&any, value);
	put(m, field, key, &any);
	proto_free(&any);
}

void otlp_put_int(struct proto *m, uint32_t field, const char *key, int64_t value)
{
	struct proto any = {0};

	otlp_value_int(&any, value);
	put(m, field, key, &any);
	proto_free(&any);
}

/* Names of attributes are those of OpenTelemetry's semantic conventions. */
static void put_resource(struct proto *m, const struct shipment *s)
{
	const struct {
		const char *key, *value;
	} texts[] = {
		{"service.name", s->service},
		{"service.version", s->version},
		{"host.name", s->host},
		{"os.type", "linux"},
		{"os.version", s->kernel},
		{"host.arch", s->run->run_info.machine},
		{"telemetry.sdk.name", "proftrace"},
	};
	const struct profile_target *t = &s->run->profile->target;
	struct proto resource = {0};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (texts[i].value && *texts[i].value)
			otlp_put_text(&resource, RESOURCE_ATTRIBUTES, texts[i].key, texts[i].value);
	}
	if (t->pids_cnt == 1)
		otlp_put_int(&resource, RESOURCE_ATTRIBUTES, "process.pid", t->pids[0]);
	proto_message(m, RESOURCE_ITEMS_RESOURCE, &resource);
	proto_free(&resource);
}

void otlp_wrap(struct proto *request, const struct shipment *s, struct proto *content)
{
	struct proto scope = {0}, scoped = {0}, resource = {0};

	proto_text(&scope, SCOPE_NAME, "proftrace");
	proto_text(&scope, SCOPE_VERSION, s->run->run_info.version ? s->run->run_info.version : "");
	proto_message(&scoped, SCOPE_ITEMS_SCOPE, &scope);
	proto_append(&scoped, content);
	content->len = 0;
	put_resource(&resource, s);
	proto_message(&resource, RESOURCE_ITEMS_SCOPE_ITEMS, &scoped);
	proto_message(request, REQUEST_RESOURCE_ITEMS, &resource);
	proto_free(&scope);
	proto_free(&scoped);
	proto_free(&resource);
}

uint64_t otlp_start_ns(const struct profile *p)
{
	/* A recording may claim anything; its precision is a microsecond. */
	double us = p->start_time * 1e6;

	return us > 0 && us < (double)(INT64_MAX / 4000) ? (uint64_t)(us + 0.5) * 1000 : 0;
}

uint64_t otlp_end_ns(const struct profile *p)
{
	uint64_t took_ns = p->duration_ns < INT64_MAX / 2 ? p->duration_ns : INT64_MAX / 2;

	return otlp_start_ns(p) + took_ns;
}

void otlp_trace_id(uint8_t id[OTLP_TRACE_ID], uint64_t recording, uint64_t what)
{
	uint64_t half = hash__mix(recording ^ hash__mix(what + SPLIT)),
		 other = hash__mix(half + SPLIT);

	half |= !half;
	memcpy(id, &half, sizeof(half));
	memcpy(id + sizeof(half), &other, sizeof(other));
}

void otlp_span_id(uint8_t id[OTLP_SPAN_ID], uint64_t recording, uint64_t session, uint64_t call)
{
	uint64_t hash =
		hash__mix(recording ^ hash__mix(session + SPLIT) ^ hash__mix(call + 2 * SPLIT));

	hash |= !hash;
	memcpy(id, &hash, sizeof(hash));
}
