// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mutates recordings as the tables that they are (docs/record-format.md), so that most of what it
 * makes gets past the reader, to what shows recordings: numbers become those of other rows or the
 * limits of their type, names become those that sinks know, rows and columns come and go.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "recording_file.h"

#include "record/format/format.h"

#define OPTIONS	    8 /* bytes before the blocks */
#define COLUMNS_MAX 64
#define TABLES_MAX  32
#define VALUES_MAX  16384 /* in a table */
#define TEXT_MAX    4096

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

struct text {
	uint8_t *bytes;
	size_t len;
};

/* A column holds a number a row; the table of strings has texts instead. */
struct table {
	uint64_t tag, rows, columns;
	uint64_t numbers[COLUMNS_MAX];
	uint64_t *values[COLUMNS_MAX];
	struct text *texts;
};

struct content {
	struct table tables[TABLES_MAX];
	size_t cnt;
	uint32_t seed;
};

static uint32_t pick(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (uint64_t)(*seed >> 8) * below >> 24;
}

static bool get(const uint8_t **at, const uint8_t *end, uint64_t *v)
{
	*v = 0;
	for (unsigned int shift = 0; shift < 64 && *at < end; shift += 7) {
		*v |= (uint64_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			return true;
	}
	return false;
}

static bool read_texts(struct table *t, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *lengths, *bytes;
	uint64_t number, len;

	if (t->columns != 2 || !get(at, end, &number) || !get(at, end, &len) ||
	    len > (size_t)(end - *at))
		return false;
	lengths = *at;
	*at += len;
	if (!get(at, end, &number) || !get(at, end, &len) || len > (size_t)(end - *at))
		return false;
	bytes = *at;
	*at += len;
	t->texts = calloc(t->rows + 1, sizeof(*t->texts));
	for (size_t i = 0; i < t->rows; i++) {
		if (!get(&lengths, bytes, &len) || len > (size_t)(*at - bytes) || len > TEXT_MAX)
			return false;
		t->texts[i].bytes = malloc(TEXT_MAX);
		t->texts[i].len = len;
		memcpy(t->texts[i].bytes, bytes, len);
		bytes += len;
	}
	return true;
}

static bool read_columns(struct table *t, const uint8_t **at, const uint8_t *end)
{
	uint64_t len;

	for (size_t c = 0; c < t->columns; c++) {
		if (!get(at, end, &t->numbers[c]) || !get(at, end, &len) ||
		    len > (size_t)(end - *at))
			return false;
		t->values[c] = calloc(t->rows + 1, sizeof(uint64_t));
		for (size_t i = 0; i < t->rows; i++) {
			if (!get(at, end, &t->values[c][i]))
				return false;
		}
	}
	return true;
}

static bool read_content(struct content *c, const uint8_t *at, size_t len)
{
	const uint8_t *end = at + len;

	while (at < end) {
		struct table *t = &c->tables[c->cnt];

		if (c->cnt == TABLES_MAX || !get(&at, end, &t->tag) || !get(&at, end, &t->rows) ||
		    !get(&at, end, &t->columns) || !t->columns || t->columns > COLUMNS_MAX ||
		    t->rows > VALUES_MAX / t->columns)
			return false;
		c->cnt++;
		if (t->tag == TABLE_STRINGS ? !read_texts(t, &at, end) : !read_columns(t, &at, end))
			return false;
	}
	return c->cnt;
}

static void free_content(struct content *c)
{
	for (size_t i = 0; i < c->cnt; i++) {
		struct table *t = &c->tables[i];

		for (size_t n = 0; n < t->columns; n++)
			free(t->values[n]);
		for (size_t n = 0; t->texts && n < t->rows; n++)
			free(t->texts[n].bytes);
		free(t->texts);
	}
}

/* Bytes that are written, as far as there is room for them. */
struct out {
	uint8_t *at;
	size_t len, max;
};

static void put(struct out *o, uint64_t v)
{
	do {
		if (o->len < o->max)
			o->at[o->len] = (v & 0x7f) | (v > 0x7f ? 0x80 : 0);
		o->len++;
	} while (v >>= 7);
}

static void put_texts(struct out *o, const struct table *t)
{
	struct out counted = {0};
	size_t len = 0;

	for (size_t i = 0; i < t->rows; i++) {
		put(&counted, t->texts[i].len);
		len += t->texts[i].len;
	}
	put(o, 1);
	put(o, counted.len);
	for (size_t i = 0; i < t->rows; i++)
		put(o, t->texts[i].len);
	put(o, 2);
	put(o, len);
	for (size_t i = 0; i < t->rows; i++) {
		if (o->len + t->texts[i].len <= o->max)
			memcpy(o->at + o->len, t->texts[i].bytes, t->texts[i].len);
		o->len += t->texts[i].len;
	}
}

static void put_content(struct out *o, const struct content *c)
{
	for (size_t i = 0; i < c->cnt; i++) {
		const struct table *t = &c->tables[i];

		put(o, t->tag);
		put(o, t->rows);
		put(o, t->columns);
		if (t->texts)
			put_texts(o, t);
		for (size_t n = 0; !t->texts && n < t->columns; n++) {
			struct out counted = {0};

			for (size_t row = 0; row < t->rows; row++)
				put(&counted, t->values[n][row]);
			put(o, t->numbers[n]);
			put(o, counted.len);
			for (size_t row = 0; row < t->rows; row++)
				put(o, t->values[n][row]);
		}
	}
}

/* Names that some sink treats in a way of their own, and those that are hard to print. */
static const char *const names[] = {
	/* clang-format off */
	"", "[waits]", "[files]", "[kernel]", "[lock", "[lock x]", "[timer]", "[by writer: f]",
	"[held by f]", "[ENOENT]", "[]", "[", "]", "func_0x1", "f (inlined)", "[cpu]", "[other]",
	"[child]", "[system calls]", "/", "//", "a/", "\x1b[31m", "a\nb", "\r", "\xff\xfe",
	"\xc2\x85", "\xe2\x80\xa8", ";", "\"", "\\", "<!--", "</script>", "]]>", "=1+1",
	"f(v=5)", "a b", "\xf0\x9f\x92\xa9", "[stopped]", "[poll]", "[unknown]", "[vdso]", "*",
	/* clang-format on */
};

static void change_text(struct content *c, struct table *t)
{
	struct text *to = &t->texts[pick(&c->seed, t->rows)];
	const char *name = names[pick(&c->seed, sizeof(names) / sizeof(*names))];
	size_t times;

	switch (pick(&c->seed, 4)) {
	case 0:
		to->len = LLVMFuzzerMutate(to->bytes, to->len, TEXT_MAX);
		break;
	case 1: /* many of it in a row */
		times = 1 + pick(&c->seed, 400);
		for (to->len = 0; times-- && to->len + strlen(name) < TEXT_MAX;) {
			memcpy(to->bytes + to->len, name, strlen(name));
			to->len += strlen(name);
		}
		break;
	default:
		to->len = strlen(name);
		memcpy(to->bytes, name, to->len);
	}
}

static void change_value(struct content *c, struct table *t)
{
	static const uint64_t limits[] = {0,
					  1,
					  2,
					  3,
					  255,
					  INT32_MAX,
					  1ull << 31,
					  UINT32_MAX,
					  1ull << 32,
					  1ull << 40,
					  1ull << 53,
					  INT64_MAX,
					  1ull << 63,
					  UINT64_MAX,
					  1ull << 62,
					  60000000000,
					  0x7fefffffffffffff};
	uint64_t *column = t->values[pick(&c->seed, t->columns)];
	uint64_t *v = &column[pick(&c->seed, t->rows)];

	switch (pick(&c->seed, 6)) {
	case 0:
		*v = limits[pick(&c->seed, sizeof(limits) / sizeof(*limits))];
		break;
	case 1:
		*v += 1;
		break;
	case 2:
		*v -= 1;
		break;
	case 3:
		*v = column[pick(&c->seed, t->rows)];
		break;
	case 4:
		*v = pick(&c->seed, 64);
		break;
	default:
		*v ^= 1ull << pick(&c->seed, 64);
	}
}

/* Copies a row to a place further down, or takes it out. */
static void change_rows(struct content *c, struct table *t)
{
	size_t from = pick(&c->seed, t->rows), row = from + pick(&c->seed, t->rows - from);
	bool less = pick(&c->seed, 2);

	if (t->texts)
		return;
	for (size_t n = 0; n < t->columns; n++) {
		uint64_t *v = t->values[n];

		if (less) {
			memmove(&v[from], &v[from + 1], (t->rows - from - 1) * sizeof(*v));
			continue;
		}
		v = realloc(v, (t->rows + 2) * sizeof(*v));
		memmove(&v[row + 1], &v[row], (t->rows - row) * sizeof(*v));
		v[row] = v[from];
		t->values[n] = v;
	}
	t->rows += less ? -1 : 1;
}

/* Takes a column out: all rows have 0 there then. */
static void drop_column(struct content *c, struct table *t)
{
	size_t n = pick(&c->seed, t->columns);

	if (t->texts || t->columns == 1)
		return;
	free(t->values[n]);
	t->columns--;
	t->values[n] = t->values[t->columns];
	t->numbers[n] = t->numbers[t->columns];
	t->values[t->columns] = NULL;
}

static void mutate_content(struct content *c)
{
	for (uint32_t times = 1 + pick(&c->seed, 4); times; times--) {
		struct table *t = &c->tables[pick(&c->seed, c->cnt)];
		uint32_t what = pick(&c->seed, 16);

		if (!t->rows)
			continue;
		if (what == 0)
			drop_column(c, t);
		else if (what < 4)
			change_rows(c, t);
		else if (t->texts)
			change_text(c, t);
		else
			change_value(c, t);
	}
}

/* Replaces the content of the block at `at`. Returns the input's new size, or 0 if that cannot be.
 */
static size_t mutate_block(uint8_t *data, size_t size, size_t max_size, size_t at, uint32_t seed)
{
	size_t len = data[at + 2] | data[at + 3] << 8, end = at + RECORDING_BLOCK_HEAD + len;
	struct content *c = calloc(1, sizeof(*c));
	struct out o = {malloc(RECORDING_BLOCK_MAX), 0, RECORDING_BLOCK_MAX};
	size_t left = size - end, result = 0;

	c->seed = seed;
	if (read_content(c, data + end - len, len)) {
		mutate_content(c);
		put_content(&o, c);
	}
	if (o.len && o.len <= o.max && end - len + o.len + left <= max_size) {
		memmove(data + end - len + o.len, data + end, left);
		memcpy(data + end - len, o.at, o.len);
		data[at + 2] = o.len & 0xff;
		data[at + 3] = o.len >> 8;
		result = end - len + o.len + left;
	}
	free_content(c);
	free(c);
	free(o.at);
	return result;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size_t places[64], cnt = 0, at = OPTIONS, result = 0;
	uint32_t what = pick(&seed, 10);

	while (cnt < 64 && at + RECORDING_BLOCK_HEAD <= size) {
		size_t next = at + RECORDING_BLOCK_HEAD + (data[at + 2] | data[at + 3] << 8);

		if (next > size)
			break;
		places[cnt++] = at;
		at = next;
	}
	if (what == 0 || !cnt)
		return LLVMFuzzerMutate(data, size, max_size);
	if (what < 3)
		data[pick(&seed, OPTIONS)] = pick(&seed, 256);
	if (what == 1)
		return size;
	result = mutate_block(data, size, max_size, places[pick(&seed, cnt)], seed);
	return result ?: LLVMFuzzerMutate(data, size, max_size);
}
