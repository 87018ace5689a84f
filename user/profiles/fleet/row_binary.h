/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ClickHouse's format RowBinary: values one behind the other, numbers little-endian, before a
 * string or an array how many bytes or elements it has, as LEB128. Inside fleet/ only, and for its
 * tests.
 */
#ifndef PROFTRACE_FLEET_ROW_BINARY_H
#define PROFTRACE_FLEET_ROW_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rows {
	uint8_t *data;
	size_t len, cap;
	bool failed; /* no memory: from then on nothing is added */
};

void rows__u64(struct rows *r, uint64_t value);
void rows__u32(struct rows *r, uint32_t value);
void rows__u8(struct rows *r, uint8_t value);
void rows__string(struct rows *r, const char *text); /* up to ROWS_STRING_MAX bytes of it */
void rows__count(struct rows *r, size_t cnt);	     /* of the array that follows */
void rows__free(struct rows *r);

#define ROWS_STRING_MAX 4096

/* Reads an answer, which may be anything. */
struct rows_reader {
	uint8_t *at;
	const uint8_t *end;
	bool failed; /* it ended amid a value, or makes no sense; what is read then is 0 or "" */
};

uint64_t rows_reader__u64(struct rows_reader *r);
uint32_t rows_reader__u32(struct rows_reader *r);
uint8_t rows_reader__u8(struct rows_reader *r);
double rows_reader__f64(struct rows_reader *r); /* finite */

/* In the answer itself: a byte before it is overwritten to make room for the NUL behind it. */
const char *rows_reader__string(struct rows_reader *r);

/* Whether there is another row. */
static inline bool rows_reader__more(const struct rows_reader *r)
{
	return !r->failed && r->at < r->end;
}

#endif
