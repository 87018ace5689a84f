// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables are written column by column, as variable-length integers: neighbours in a column are
 * alike, which is what compression lives on. Strings are written once each, before what names them.
 */
#include "record/format/encode.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "record/format/run_info.h"
#include "record/format/layout.h"
#include "util/array.h"
#include "util/hash.h"

#define VARINT_MAX  10	/* bytes */
#define COLUMN_PART 256 /* rows that are put at once */

/* The strings so far, numbered from 1 on, and a hash of them by open addressing. */
struct strings {
	const char **items;
	size_t cnt, cap;
	uint32_t *slots; /* numbers; 0: free */
	size_t slots_cnt;
};

struct encoder {
	struct strings strings;
	struct bytes tables; /* those that name strings */
	struct bytes column; /* scratch */
	bool failed;	     /* memory was short */
};

static void put(struct encoder *e, struct bytes *b, const void *data, size_t len)
{
	if (e->failed || ARRAY_RESERVE_MORE(&b->data, b->len, len, &b->cap)) {
		e->failed = true;
		return;
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

/* Seven bits a byte, the lowest first; the high bit says that more follow (LEB128). Returns what is
 * behind it. */
static uint8_t *varint(uint8_t *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = v | 0x80;
	*at++ = v;
	return at;
}

static void put_varint(struct encoder *e, struct bytes *b, uint64_t v)
{
	uint8_t buf[VARINT_MAX];

	put(e, b, buf, varint(buf, v) - buf);
}

static uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ -(v >> 63);
}

static uint32_t *slot_of(const struct strings *s, const char *string)
{
	size_t i = hash__keyed(string, strlen(string)) & (s->slots_cnt - 1);

	while (s->slots[i] && strcmp(s->items[s->slots[i] - 1], string))
		i = (i + 1) & (s->slots_cnt - 1);
	return &s->slots[i];
}

static int grow_slots(struct strings *s)
{
	size_t cnt = s->slots_cnt ? 2 * s->slots_cnt : 256;
	uint32_t *slots = calloc(cnt, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(s->slots);
	s->slots = slots;
	s->slots_cnt = cnt;
	for (size_t i = 0; i < s->cnt; i++)
		*slot_of(s, s->items[i]) = i + 1;
	return 0;
}

/* The string's number; it has to stay where it is. NULL is 0. */
static uint32_t string_number(struct encoder *e, const char *string)
{
	struct strings *s = &e->strings;
	uint32_t *slot;

	if (!string || e->failed)
		return 0;
	if ((2 * (s->cnt + 1) > s->slots_cnt && grow_slots(s)) ||
	    ARRAY_RESERVE(&s->items, s->cnt, &s->cap)) {
		e->failed = true;
		return 0;
	}
	slot = slot_of(s, string);
	if (!*slot) {
		s->items[s->cnt++] = string;
		*slot = s->cnt;
	}
	return *slot;
}

/* The field as 64 bits, negative ones sign-extended. */
static uint64_t field_value(struct encoder *e, const struct field *f, const uint8_t *row)
{
	const uint8_t *at = row + f->offset;
	const char *string;
	uint64_t v = 0;
	int32_t i32;
	uint32_t u32;
	double d;

	switch ((enum field_kind)f->kind) {
	case FIELD_U32:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	case FIELD_I32:
		memcpy(&i32, at, sizeof(i32));
		return (int64_t)i32;
	case FIELD_STRING:
		memcpy(&string, at, sizeof(string));
		return string_number(e, string);
	case FIELD_COMM:
		return string_number(e, (const char *)at);
	case FIELD_WHOLE:
		memcpy(&d, at, sizeof(d));
		if (d < (double)WHOLE_IS_DOUBLE)
			return (uint64_t)d;
		d = fmin(d, WHOLE_MAX);
		memcpy(&v, &d, sizeof(v));
		return v | WHOLE_IS_DOUBLE;
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_DOUBLE:
		memcpy(&v, at, sizeof(v));
	}
	return v;
}

static void put_column(struct encoder *e, const struct layout *l, const struct field *f,
		       const uint8_t *rows, size_t cnt)
{
	bool is_signed = f->delta || f->kind == FIELD_I32 || f->kind == FIELD_I64;
	uint8_t buf[COLUMN_PART * VARINT_MAX], *at = buf;
	uint64_t before = 0;

	e->column.len = 0;
	for (size_t i = 0; i < cnt; i++) {
		uint64_t v = field_value(e, f, rows + i * l->size);
		uint64_t stored = f->delta ? v - before : v;

		at = varint(at, is_signed ? zigzag(stored) : stored);
		before = v;
		if (i % COLUMN_PART == COLUMN_PART - 1 || i == cnt - 1) {
			put(e, &e->column, buf, at - buf);
			at = buf;
		}
	}
	put_varint(e, &e->tables, f->column);
	put_varint(e, &e->tables, e->column.len);
	put(e, &e->tables, e->column.data, e->column.len);
}

/* A table without rows is left out. */
static void put_table(struct encoder *e, const struct layout *l, const void *rows, size_t cnt)
{
	if (!cnt)
		return;
	put_varint(e, &e->tables, l->tag);
	put_varint(e, &e->tables, cnt);
	put_varint(e, &e->tables, l->fields_cnt);
	for (size_t i = 0; i < l->fields_cnt; i++)
		put_column(e, l, &l->fields[i], rows, cnt);
}

/* Two columns: the lengths, then all bytes. */
static void put_strings(struct encoder *e, struct bytes *out)
{
	const struct strings *s = &e->strings;
	size_t sum = 0;

	e->column.len = 0;
	for (size_t i = 0; i < s->cnt; i++) {
		put_varint(e, &e->column, strlen(s->items[i]));
		sum += strlen(s->items[i]);
	}
	put_varint(e, out, TABLE_STRINGS);
	put_varint(e, out, s->cnt);
	put_varint(e, out, 2);
	put_varint(e, out, 1);
	put_varint(e, out, e->column.len);
	put(e, out, e->column.data, e->column.len);
	put_varint(e, out, 2);
	put_varint(e, out, sum);
	for (size_t i = 0; i < s->cnt; i++)
		put(e, out, s->items[i], strlen(s->items[i]));
}

static int encoder_finish(struct encoder *e, struct bytes *out)
{
	put_strings(e, out);
	put(e, out, e->tables.data, e->tables.len);
	free(e->strings.items);
	free(e->strings.slots);
	free(e->tables.data);
	free(e->column.data);
	return e->failed ? -ENOMEM : 0;
}

static void put_string_list(struct encoder *e, const struct layout *l, const char *const *list,
			    size_t cnt)
{
	_Static_assert(sizeof(struct string_row) == sizeof(*list), "a list is a table");
	put_table(e, l, list, cnt);
}

int encode__run_info(const struct run_info *f, struct bytes *out)
{
	struct encoder e = {0};

	put_table(&e, &layout_run_info, f, 1);
	put_string_list(&e, &layout_args, f->args, f->args_cnt);
	return encoder_finish(&e, out);
}

int encode__end(const struct run_end *end, struct bytes *out)
{
	struct encoder e = {0};

	put_table(&e, &layout_end, end, 1);
	return encoder_finish(&e, out);
}

static void put_target(struct encoder *e, const struct profile_target *t)
{
	size_t args = 0;

	_Static_assert(sizeof(struct pid_row) == sizeof(*t->pids), "pids are a table");
	put_table(e, &layout_pids, t->pids, t->pids_cnt);
	while (t->command && t->command[args])
		args++;
	put_string_list(e, &layout_command, (const char *const *)t->command, args);
}

static void put_sites(struct encoder *e, const struct profile_probes *probes)
{
	struct site_row rows[sizeof(probes->sites) / sizeof(probes->sites[0])];

	for (size_t i = 0; i < probes->sites_cnt; i++)
		rows[i] = (struct site_row){probes->sites[i].class_name, probes->sites[i].count};
	put_table(e, &layout_sites, rows, probes->sites_cnt);
}

static void put_aliases(struct encoder *e, const struct profile *p)
{
	struct alias_row *rows;
	size_t cnt = 0;

	for (size_t i = 0; i < p->functions_cnt; i++)
		cnt += p->functions[i].aliases_cnt;
	rows = calloc(cnt + 1, sizeof(*rows));
	if (!rows) {
		e->failed = true;
		return;
	}
	cnt = 0;
	for (size_t i = 0; i < p->functions_cnt; i++) {
		for (size_t a = 0; a < p->functions[i].aliases_cnt; a++)
			rows[cnt++] = (struct alias_row){i, p->functions[i].aliases[a]};
	}
	put_table(e, &layout_aliases, rows, cnt);
	free(rows);
}

int encode__profile(const struct profile *p, struct bytes *out)
{
	struct encoder e = {0};

	put_table(&e, &layout_summary, p, 1);
	put_target(&e, &p->target);
	put_sites(&e, &p->probes);
	put_table(&e, &layout_skipped, p->probes.skipped, p->probes.skipped_cnt);
	put_table(&e, &layout_functions, p->functions, p->functions_cnt);
	put_aliases(&e, p);
	put_table(&e, &layout_threads, p->threads, p->threads_cnt);
	if (p->nodes_cnt)
		put_table(&e, &layout_nodes, p->nodes + 1, p->nodes_cnt - 1);
	put_table(&e, &layout_buckets, p->buckets, p->buckets_cnt);
	put_table(&e, &layout_drops, p->drops, p->drops_cnt);
	put_table(&e, &layout_cpu_shares, p->cpu_shares, p->cpu_shares_cnt);
	put_table(&e, &layout_estimates, p->estimates, p->estimates_cnt);
	put_table(&e, &layout_arguments, p->arguments, p->arguments_cnt);
	put_table(&e, &layout_lines, p->lines, p->lines_cnt);
	put_table(&e, &layout_inlines, p->inlines, p->inlines_cnt);
	return encoder_finish(&e, out);
}

int encode__tables(const struct table_rows *tables, size_t cnt, struct bytes *out)
{
	struct encoder e = {0};

	for (size_t i = 0; i < cnt; i++)
		put_table(&e, tables[i].layout, tables[i].rows, tables[i].cnt);
	return encoder_finish(&e, out);
}
