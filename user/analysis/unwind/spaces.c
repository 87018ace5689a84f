// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_image.h"
#include "target/maps.h"
#include "target/target.h"
#include "target/vdso.h"
#include "unwind/rows.h"
#include "util/array.h"
#include "util/log.h"
#include "util/search.h"
#include "wire.h"

#define PAGE_MASK  4095ull
#define TABLE_ROWS ((WIRE_TABLE_PAGES - 1) * (size_t)WIRE_PAGE_ROWS)

/* One of an object's tables: large ones have several. */
struct table_part {
	uint64_t start; /* the vaddr that its rows count from */
	uint32_t number;
};

struct unwind_object {
	bool loaded;
	struct elf_segment *segments;
	size_t segments_cnt;
	struct table_part *parts; /* by start */
	size_t parts_cnt;
};

/* Rows [first, first + cnt) as pages; the caller frees them. */
static struct wire_unwind_page *make_pages(const struct unwind_rows *rows, size_t first, size_t cnt,
					   uint32_t *pages_cnt)
{
	size_t pages = (cnt + WIRE_PAGE_ROWS - 1) / WIRE_PAGE_ROWS;
	struct wire_unwind_page *p = malloc((pages + 1) * sizeof(*p));
	uint32_t base = rows->rows[first].start;

	if (!p)
		return NULL;
	memset(p, 0xff, (pages + 1) * sizeof(*p));
	for (size_t i = 0; i < cnt; i++) {
		struct wire_unwind_row *row = &p[1 + i / WIRE_PAGE_ROWS].rows[i % WIRE_PAGE_ROWS];

		row->start = rows->rows[first + i].start - base;
		row->rule = rows->rows[first + i].rule;
	}
	for (size_t i = 0; i < pages; i++)
		p[0].firsts[i] = p[1 + i].rows[0].start;
	*pages_cnt = pages + 1;
	return p;
}

static int add_table(struct unwind_spaces *s, struct unwind_object *o,
		     const struct unwind_rows *rows, size_t first, size_t cnt,
		     const struct unwind_sink *sink)
{
	struct wire_unwind_page *pages;
	uint32_t pages_cnt;
	int err;

	if (s->tables_cnt == s->tables_max)
		return 0;
	pages = make_pages(rows, first, cnt, &pages_cnt);
	err = pages ? sink->table(s->tables_cnt + 1, pages, pages_cnt, sink->ctx) : -ENOMEM;
	free(pages);
	if (err)
		return err;
	o->parts[o->parts_cnt++] = (struct table_part){
		.start = rows->base + rows->rows[first].start, .number = ++s->tables_cnt};
	return 0;
}

static int add_tables(struct unwind_spaces *s, struct unwind_object *o,
		      const struct unwind_rows *rows, const struct unwind_sink *sink)
{
	int err = 0;

	o->parts = calloc(rows->cnt / TABLE_ROWS + 1, sizeof(*o->parts));
	if (!o->parts)
		return -ENOMEM;
	for (size_t i = 0; !err && i < rows->cnt; i += TABLE_ROWS)
		err = add_table(s, o, rows, i,
				rows->cnt - i < TABLE_ROWS ? rows->cnt - i : TABLE_ROWS, sink);
	return err;
}

static int load_object(struct unwind_spaces *s, struct unwind_object *o,
		       const struct target_object *from, const struct unwind_sink *sink)
{
	const struct elf_segment *segments;
	struct unwind_rows rows = {0};
	struct elf_image *img;
	int err;

	o->loaded = true;
	if (elf_image__try(from->fd, from->path, &img))
		return 0;
	segments = elf_image__segments(img, &o->segments_cnt);
	o->segments = calloc(o->segments_cnt + 1, sizeof(*segments));
	err = o->segments ? unwind_rows__load(img, &rows) : -ENOMEM;
	if (o->segments)
		memcpy(o->segments, segments, o->segments_cnt * sizeof(*segments));
	if (!err)
		err = add_tables(s, o, &rows, sink);
	else if (err != -ENOMEM)
		log_debug("%s: no unwind tables: %s", from->path, strerror(-err));
	log_debug("%s: %zu unwind rows", from->path, rows.cnt);
	unwind_rows__free(&rows);
	elf_image__free(img);
	return err == -ENOENT || err == -ENOEXEC || err == -E2BIG || err == -EIO ? 0 : err;
}

static int load_objects(struct unwind_spaces *s, const struct target *t,
			const struct unwind_sink *sink)
{
	int err = ARRAY_GROW(&s->objects, &s->objects_cnt, t->objects_cnt);

	for (size_t i = 0; !err && i < t->objects_cnt; i++) {
		if (!s->objects[i].loaded)
			err = load_object(s, &s->objects[i], &t->objects[i], sink);
	}
	return err;
}

/* Code of no file, and what lies beside it and is to become code: [start, end). */
struct jit_area {
	uint64_t start, end;
	uint64_t seen; /* mappings up to here are known; what is behind `end` may be amid code */
	bool code;     /* some of it is code */
};

static int load_vdso(struct unwind_spaces *s, const struct unwind_sink *sink)
{
	struct target_object from = {.path = VDSO_NAME};
	int err = 0;

	if (s->vdso)
		return 0;
	s->vdso = calloc(1, sizeof(*s->vdso));
	if (!s->vdso)
		return -ENOMEM;
	from.fd = vdso__open();
	if (from.fd < 0)
		return 0;
	err = load_object(s, s->vdso, &from, sink);
	close(from.fd);
	return err;
}

struct reading {
	struct unwind_spaces *s;
	const struct target *t;
	struct wire_unwind_space *space;
	size_t cnt;
	struct jit_area jit;
};

/* The object that is mapped there; objects_cnt: none of the target's. */
static size_t object_of(const struct target *t, const struct mapping *m)
{
	size_t i;

	for (i = 0; i < t->objects_cnt; i++) {
		const struct target_object *o = &t->objects[i];

		if (o->ino == m->ino && o->dev_major == m->dev_major &&
		    o->dev_minor == m->dev_minor)
			break;
	}
	return m->ino ? i : t->objects_cnt;
}

/* *bias: an address of the mapping less this is a vaddr of the object. */
static bool bias_of(const struct unwind_object *o, const struct mapping *m, uint64_t *bias)
{
	for (size_t i = 0; i < o->segments_cnt; i++) {
		const struct elf_segment *seg = &o->segments[i];

		if (!seg->exec || m->offset < (seg->offset & ~PAGE_MASK) ||
		    m->offset >= seg->offset + seg->filesz)
			continue;
		*bias = m->start - (seg->vaddr + (m->offset - seg->offset));
		return true;
	}
	return false;
}

static void put_range(struct reading *r, uint64_t start, const struct wire_unwind_range *range)
{
	if (r->cnt == WIRE_UNWIND_RANGES) {
		r->s->short_of_ranges = true;
		return;
	}
	r->space->starts[r->cnt] = start;
	r->space->ranges[r->cnt++] = *range;
}

/* The mapping's ranges, one for each table that has rows for it. */
static void put_object(struct reading *r, const struct mapping *m, const struct unwind_object *o,
		       uint32_t object, uint64_t bias)
{
	uint64_t lo = m->start - bias, hi = m->end - bias;
	struct wire_unwind_range range = {.end = m->end, .bias = bias, .object = object};
	size_t first = LOWER_BOUND(o->parts_cnt, i, o->parts[i].start <= lo);
	uint64_t start = lo;

	for (size_t i = first; start < hi; i++) {
		uint64_t end = i < o->parts_cnt && o->parts[i].start < hi ? o->parts[i].start : hi;

		range.end = end + bias;
		range.table = i ? o->parts[i - 1].number : 0;
		range.base = i ? o->parts[i - 1].start + bias : 0;
		if (end > start)
			put_range(r, start + bias, &range);
		start = end;
	}
}

static void put_jit_area(struct reading *r)
{
	const struct wire_unwind_range range = {.end = r->jit.end,
						.object = WIRE_CALLERS_NO_OBJECT};

	if (r->jit.code)
		put_range(r, r->jit.start, &range);
	r->jit = (struct jit_area){0};
}

#define MOST_WRITTEN (1ull << 20) /* bytes of code that is being written, and cannot run yet */

/*
 * Memory of no file. JIT compilers reserve addresses for all of their code and make parts of that
 * executable as they need them, perhaps not while they write there: between two looks at the
 * mappings, all that time. So what is reserved beside code counts as code, and a little of other
 * memory amid it.
 */
static void on_anonymous(struct reading *r, const struct mapping *m)
{
	struct jit_area *a = &r->jit;
	bool amid = a->seen == m->start, may_be = m->executable || m->reserved;

	if (amid && !may_be && a->code && m->end - m->start <= MOST_WRITTEN) {
		a->seen = m->end;
		return;
	}
	if (!amid || !may_be || (a->end != m->start && !m->executable))
		put_jit_area(r);
	if (!may_be)
		return;
	if (!a->seen)
		a->start = m->start;
	a->code |= m->executable;
	a->end = a->seen = m->end;
}

static bool is_anonymous(const struct mapping *m)
{
	return !m->ino && (!*m->name || !strncmp(m->name, "[anon:", 6));
}

static int on_mapping(const struct mapping *m, void *ctx)
{
	struct reading *r = ctx;
	struct wire_unwind_range range = {.end = m->end, .object = WIRE_CALLERS_NO_OBJECT};
	uint64_t bias;
	size_t object;

	if (is_anonymous(m)) {
		on_anonymous(r, m);
		return 0;
	}
	put_jit_area(r);
	/* The kernel's trampolines stand for return addresses, and are none. */
	if (!m->executable || m->start >> 63 || !strncmp(m->name, "[uprobes", 8))
		return 0;
	object = object_of(r->t, m);
	if (!strcmp(m->name, VDSO_NAME) && bias_of(r->s->vdso, m, &bias))
		put_object(r, m, r->s->vdso, WIRE_CALLERS_VDSO, bias);
	else if (object < r->s->objects_cnt && bias_of(&r->s->objects[object], m, &bias))
		put_object(r, m, &r->s->objects[object], object, bias);
	else
		put_range(r, m->start, &range);
	return 0;
}

int unwind_spaces__add(struct unwind_spaces *s, const struct target *t, pid_t pid,
		       const struct unwind_sink *sink)
{
	struct reading r = {.s = s, .t = t};
	int err = load_objects(s, t, sink);

	if (!err)
		err = load_vdso(s, sink);
	if (err)
		return err;
	r.space = calloc(1, sizeof(*r.space));
	if (!r.space)
		return -ENOMEM;
	memset(r.space->starts, 0xff, sizeof(r.space->starts));
	err = maps__for_each_mapping(pid, on_mapping, &r);
	put_jit_area(&r);
	if (!err)
		err = sink->space(pid, r.space, sink->ctx);
	free(r.space);
	return err;
}

static void clear_object(struct unwind_object *o)
{
	free(o->segments);
	free(o->parts);
}

void unwind_spaces__free(struct unwind_spaces *s)
{
	for (size_t i = 0; i < s->objects_cnt; i++)
		clear_object(&s->objects[i]);
	if (s->vdso)
		clear_object(s->vdso);
	free(s->vdso);
	free(s->objects);
	*s = (struct unwind_spaces){0};
}
