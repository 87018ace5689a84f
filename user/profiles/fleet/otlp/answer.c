// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/otlp/answer.h"

#include <string.h>

#include "util/text.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LEN = 2, WIRE_FIXED32 = 5 };
enum { RESPONSE_PARTIAL_SUCCESS = 1 };
/* Fields of Export...PartialSuccess: rejected_... and error_message; of Status: code and message.
 */
enum { PAIR_NUMBER = 1, PAIR_TEXT = 2 };

/* One field of a message. */
struct field {
	uint32_t number;
	uint64_t value; /* of a number */
	const uint8_t *data;
	size_t len; /* of what is no number; data is NULL for numbers */
};

struct answer_reader {
	const uint8_t *at, *end;
	bool failed;
};

static uint64_t read_number(struct answer_reader *r)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	r->failed = true;
	return 0;
}

/* Whether there is another field; false also if what there is makes no sense. */
static bool next_field(struct answer_reader *r, struct field *f)
{
	uint64_t tag, len;

	*f = (struct field){0};
	if (r->failed || r->at == r->end)
		return false;
	tag = read_number(r);
	f->number = tag >> 3 < UINT32_MAX ? tag >> 3 : 0;
	switch (tag & 7) {
	case WIRE_VARINT:
		f->value = read_number(r);
		return !r->failed;
	case WIRE_LEN:
		len = read_number(r);
		break;
	case WIRE_FIXED64:
		len = 8;
		break;
	case WIRE_FIXED32:
		len = 4;
		break;
	default:
		len = UINT64_MAX;
	}
	if (r->failed || !f->number || len > (size_t)(r->end - r->at)) {
		r->failed = true;
		return false;
	}
	f->data = r->at;
	f->len = len;
	r->at += len;
	return true;
}

static void take_text(const struct field *f, char said[OTLP_SAID])
{
	char text[OTLP_SAID];
	size_t len = f->len < sizeof(text) - 1 ? f->len : sizeof(text) - 1;

	memcpy(text, f->data, len);
	text[len] = '\0';
	text_escape(text, said, OTLP_SAID);
}

/* A number in field 1 and a text in field 2: both kinds of messages have these. */
static bool read_pair(const void *data, size_t len, uint64_t *number, char said[OTLP_SAID])
{
	struct answer_reader r = {data, (const uint8_t *)data + len, false};
	struct field f;

	while (next_field(&r, &f)) {
		if (f.number == PAIR_NUMBER && !f.data)
			*number = f.value;
		else if (f.number == PAIR_TEXT && f.data)
			take_text(&f, said);
	}
	return !r.failed;
}

bool otlp_answer__accepted(const void *data, size_t len, int64_t *rejected, char said[OTLP_SAID])
{
	struct answer_reader r = {data, (const uint8_t *)data + len, false};
	uint64_t number = 0;
	struct field f;
	bool ok = true;

	*said = '\0';
	while (ok && next_field(&r, &f)) {
		if (f.number == RESPONSE_PARTIAL_SUCCESS && f.data)
			ok = read_pair(f.data, f.len, &number, said);
	}
	*rejected = number < INT64_MAX ? (int64_t)number : 0;
	return ok && !r.failed;
}

bool otlp_answer__status(const void *data, size_t len, char said[OTLP_SAID])
{
	uint64_t code;

	*said = '\0';
	return read_pair(data, len, &code, said) && *said;
}
