// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/row_binary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

static void append(struct rows *r, const void *data, size_t len)
{
	if (r->failed || ARRAY_RESERVE_MORE(&r->data, r->len, len, &r->cap)) {
		r->failed = true;
		return;
	}
	memcpy(r->data + r->len, data, len);
	r->len += len;
}

/* Our machines are little-endian, too. */
void rows__u64(struct rows *r, uint64_t value)
{
	append(r, &value, sizeof(value));
}

void rows__u32(struct rows *r, uint32_t value)
{
	append(r, &value, sizeof(value));
}

void rows__u8(struct rows *r, uint8_t value)
{
	append(r, &value, sizeof(value));
}

void rows__count(struct rows *r, size_t cnt)
{
	for (; cnt >= 0x80; cnt >>= 7)
		rows__u8(r, cnt | 0x80);
	rows__u8(r, cnt);
}

void rows__string(struct rows *r, const char *text)
{
	size_t len = text ? strnlen(text, ROWS_STRING_MAX) : 0;

	rows__count(r, len);
	if (len)
		append(r, text, len);
}

void rows__free(struct rows *r)
{
	free(r->data);
	*r = (struct rows){0};
}

static void take(struct rows_reader *r, void *value, size_t size)
{
	if (r->failed || (size_t)(r->end - r->at) < size) {
		r->failed = true;
		memset(value, 0, size);
		return;
	}
	memcpy(value, r->at, size);
	r->at += size;
}

uint64_t rows_reader__u64(struct rows_reader *r)
{
	uint64_t value;

	take(r, &value, sizeof(value));
	return value;
}

uint32_t rows_reader__u32(struct rows_reader *r)
{
	uint32_t value;

	take(r, &value, sizeof(value));
	return value;
}

uint8_t rows_reader__u8(struct rows_reader *r)
{
	uint8_t value;

	take(r, &value, sizeof(value));
	return value;
}

double rows_reader__f64(struct rows_reader *r)
{
	double value;

	take(r, &value, sizeof(value));
	if (isfinite(value))
		return value;
	r->failed = true;
	return 0;
}

const char *rows_reader__string(struct rows_reader *r)
{
	size_t len = 0;
	uint8_t byte = 0x80;
	char *text;

	for (unsigned int shift = 0; byte & 0x80; shift += 7) {
		byte = rows_reader__u8(r);
		if (shift > 28)
			r->failed = true;
		else
			len |= (size_t)(byte & 0x7f) << shift;
	}
	if (r->failed || (size_t)(r->end - r->at) < len) {
		r->failed = true;
		return "";
	}
	text = (char *)r->at - 1;
	memmove(text, r->at, len);
	text[len] = 0;
	r->at += len;
	return text;
}
