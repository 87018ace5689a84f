// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/format/table_reader.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/format/memory.h"

#define COLUMNS_MAX 64

static inline bool get_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 64 && *at < end; shift += 7) {
		uint8_t byte = *(*at)++;

		if (shift == 63 && byte > 1)
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = v;
			return true;
		}
	}
	return false;
}

static uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

/* Whether the number names a string, or none. */
static bool get_string(const struct table_reader *t, uint64_t number, const char **out)
{
	if (number > t->strings_cnt)
		return false;
	*out = number ? t->strings[number - 1] : NULL;
	return true;
}

static bool set_field(const struct table_reader *t, const struct field *f, uint64_t v, uint8_t *row)
{
	uint8_t *at = row + f->offset;
	uint32_t u32 = v;
	int32_t i32 = (int32_t)v;
	const char *string;
	double d;

	switch ((enum field_kind)f->kind) {
	case FIELD_U32:
		memcpy(at, &u32, sizeof(u32));
		return v <= UINT32_MAX;
	case FIELD_I32:
		memcpy(at, &i32, sizeof(i32));
		return (int64_t)v == i32;
	case FIELD_DOUBLE:
		memcpy(&d, &v, sizeof(d));
		memcpy(at, &v, sizeof(v));
		return isfinite(d);
	case FIELD_WHOLE:
		d = (double)v;
		if (v & WHOLE_IS_DOUBLE) {
			v &= ~WHOLE_IS_DOUBLE;
			memcpy(&d, &v, sizeof(d));
		}
		memcpy(at, &d, sizeof(d));
		return d <= WHOLE_MAX;
	case FIELD_STRING:
		if (!get_string(t, v, &string))
			return false;
		memcpy(at, &string, sizeof(string));
		return true;
	case FIELD_COMM:
		if (!get_string(t, v, &string))
			return false;
		strncpy((char *)at, string ? string : "", 15); /* what follows is zeroed */
		return true;
	case FIELD_U64:
	case FIELD_I64:
		memcpy(at, &v, sizeof(v));
		return true;
	}
	return false;
}

/* A column in the content of a block: its number, and its bytes, which are there. */
struct column {
	uint64_t number;
	const uint8_t *at, *end;
};

/* Reads the column into the field `f` of `cnt` rows, each of `row_size` bytes. */
static int read_column(const struct table_reader *t, const struct field *f, struct column *c,
		       uint8_t *rows, size_t row_size, size_t cnt)
{
	bool is_signed = f->delta || f->kind == FIELD_I32 || f->kind == FIELD_I64;
	uint64_t before = 0, v;

	for (size_t i = 0; i < cnt; i++) {
		if (!get_varint(&c->at, c->end, &v))
			return -EINVAL;
		v = is_signed ? unzigzag(v) : v;
		v = f->delta ? v + before : v;
		if (!set_field(t, f, v, rows + i * row_size))
			return -EINVAL;
		before = v;
	}
	return c->at == c->end ? 0 : -EINVAL;
}

static int next_column(struct table_reader *t, struct column *c)
{
	uint64_t len;

	if (!get_varint(&t->at, t->end, &c->number) || !get_varint(&t->at, t->end, &len) ||
	    len > (uint64_t)(t->end - t->at))
		return -EINVAL;
	c->at = t->at;
	c->end = t->at += len;
	return 0;
}

/* Rows of so many bytes are about to be made. */
static int take_room(struct memory *m, uint64_t size)
{
	if (!m->room)
		return 0;
	if (size >= m->room)
		return -EFBIG;
	m->room -= size;
	return 0;
}

/* `cnt` lengths, then the bytes of all. */
static int read_strings(struct table_reader *t, size_t cnt, size_t columns)
{
	struct column lengths, bytes;
	uint64_t len;
	char *copy;
	int err;

	if (t->strings || columns != 2 || next_column(t, &lengths) || next_column(t, &bytes))
		return -EINVAL;
	err = take_room(t->memory, cnt * sizeof(*t->strings));
	if (err)
		return err;
	t->strings = calloc(cnt + 1, sizeof(*t->strings));
	if (memory__keep(t->memory, t->strings))
		return -ENOMEM;
	/* Room for a NUL behind each. */
	copy = malloc(bytes.end - bytes.at + cnt + 1);
	if (memory__keep(t->memory, copy))
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		if (!get_varint(&lengths.at, lengths.end, &len) ||
		    len > (uint64_t)(bytes.end - bytes.at))
			return -EINVAL;
		t->strings[i] = memcpy(copy, bytes.at, len);
		copy[len] = '\0';
		copy += len + 1;
		bytes.at += len;
	}
	t->strings_cnt = cnt;
	return lengths.at == lengths.end && bytes.at == bytes.end ? 0 : -EINVAL;
}

static const struct field *find_field(const struct layout *l, uint64_t column)
{
	for (size_t i = 0; l && i < l->fields_cnt; i++) {
		if (l->fields[i].column == column)
			return &l->fields[i];
	}
	return NULL;
}

static int read_columns(struct table_reader *t, const struct layout *l, uint8_t *rows, size_t cnt,
			size_t columns)
{
	int err = 0;

	while (columns-- && !err) {
		const struct field *f;
		struct column column;

		err = next_column(t, &column);
		f = err ? NULL : find_field(l, column.number);
		if (f)
			err = read_column(t, f, &column, rows, l->size, cnt);
	}
	return err;
}

static int read_table(struct table_reader *t, const struct table_place *place, size_t cnt,
		      size_t columns)
{
	uint8_t *rows;
	int err;

	if (!place)
		return read_columns(t, NULL, NULL, 0, columns);
	if (*place->rows)
		return -EINVAL; /* the second of its kind */
	err = take_room(t->memory, cnt * place->layout->size);
	if (err)
		return err;
	rows = calloc(place->lead + cnt + 1, place->layout->size);
	if (!rows)
		return -ENOMEM;
	*place->rows = rows;
	*place->cnt = cnt;
	return read_columns(t, place->layout, rows + place->lead * place->layout->size, cnt,
			    columns);
}

int table_reader__read(struct table_reader *t, const struct table_place *places, size_t places_cnt)
{
	int err = 0;

	while (t->at < t->end && !err) {
		const struct table_place *place = NULL;
		uint64_t tag, cnt, columns;

		/* A row takes a byte at least in each column, of which there is one. */
		if (!get_varint(&t->at, t->end, &tag) || !get_varint(&t->at, t->end, &cnt) ||
		    !get_varint(&t->at, t->end, &columns) || !columns || columns > COLUMNS_MAX ||
		    cnt > (uint64_t)(t->end - t->at) / columns || cnt >= UINT32_MAX)
			return -EINVAL;
		for (size_t i = 0; i < places_cnt; i++) {
			if (places[i].layout->tag == tag)
				place = &places[i];
		}
		err = tag == TABLE_STRINGS ? read_strings(t, cnt, columns)
					   : read_table(t, place, cnt, columns);
	}
	return err;
}
