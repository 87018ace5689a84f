// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/proto.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/utf8.h"

#define VARINT_MAX 10 /* bytes */

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LEN = 2, WIRE_FIXED32 = 5 };

static void append(struct proto *m, const void *data, size_t len)
{
	if (m->failed || ARRAY_RESERVE_MORE(&m->data, m->len, len, &m->cap)) {
		m->failed = true;
		return;
	}
	if (len)
		memcpy(m->data + m->len, data, len);
	m->len += len;
}

void proto_number(struct proto *m, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];
	size_t len = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[len++] = value | 0x80;
	bytes[len++] = value;
	append(m, bytes, len);
}

static void put_tag(struct proto *m, uint32_t field, enum wire_type type)
{
	proto_number(m, (uint64_t)field << 3 | type);
}

void proto_u64(struct proto *m, uint32_t field, uint64_t value)
{
	put_tag(m, field, WIRE_VARINT);
	proto_number(m, value);
}

/* Little-endian, as our machines are. */
void proto_double(struct proto *m, uint32_t field, double value)
{
	put_tag(m, field, WIRE_FIXED64);
	append(m, &value, sizeof(value));
}

void proto_fixed64(struct proto *m, uint32_t field, uint64_t value)
{
	put_tag(m, field, WIRE_FIXED64);
	append(m, &value, sizeof(value));
}

void proto_fixed32(struct proto *m, uint32_t field, uint32_t value)
{
	put_tag(m, field, WIRE_FIXED32);
	append(m, &value, sizeof(value));
}

void proto_number64(struct proto *m, uint64_t value)
{
	append(m, &value, sizeof(value));
}

void proto_number_double(struct proto *m, double value)
{
	append(m, &value, sizeof(value));
}

void proto_bytes(struct proto *m, uint32_t field, const void *data, size_t len)
{
	put_tag(m, field, WIRE_LEN);
	proto_number(m, len);
	append(m, data, len);
}

void proto_message(struct proto *m, uint32_t field, struct proto *inner)
{
	proto_bytes(m, field, inner->data, inner->len);
	m->failed |= inner->failed;
	inner->len = 0;
}

void proto_append(struct proto *m, const struct proto *other)
{
	append(m, other->data, other->len);
	m->failed |= other->failed;
}

void proto_text(struct proto *m, uint32_t field, const char *text)
{
	char c[UTF8_MAX];
	const char *s = text;
	size_t len = 0, n;

	while ((n = utf8_next_plain(&s, c)))
		len += n;
	put_tag(m, field, WIRE_LEN);
	proto_number(m, len);
	for (s = text; (n = utf8_next_plain(&s, c));)
		append(m, c, n);
}

void proto_free(struct proto *m)
{
	free(m->data);
	*m = (struct proto){0};
}
