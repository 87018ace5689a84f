// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/tracer.h"
#include "calls/profile.h"
#include "plan/plan.h"
#include "sample/sampler.h"
#include "target/maps.h"
#include "target/target.h"
#include "util/array.h"

#define PROCESSES_MAX 4096  /* whose mappings are kept */
#define MAPPINGS_MAX  65536 /* executable ones of a process */
#define ROWS_MAX      4096  /* files; samples in others are counted as of unknown ones */

#define NO_OBJECT UINT32_MAX

/* A row of the result, by number: these two come first. */
enum { IN_KERNEL, IN_UNKNOWN, ROWS_FIXED };

/* An executable mapping of a process. */
struct code_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	uint32_t row;	 /* of the result */
	uint32_t object; /* index in the target's objects; NO_OBJECT: none of them */
};

struct process_map {
	pid_t pid;
	bool looked; /* in this round */
	struct code_mapping *mappings;
	size_t cnt, cap;
};

/* A function of the plan: where its code is. */
struct extent {
	uint32_t object, function;
	uint64_t offset, end;
};

struct shares {
	const struct plan *plan;
	const struct target *target;
	const struct tracer *tracer;
	struct profile_cpu_share *rows;
	size_t rows_cnt, rows_cap;
	struct process_map *processes;
	size_t processes_cnt, processes_cap;
	struct extent *extents; /* sorted by object and offset */
	size_t extents_cnt, extents_cap;
	size_t planned_cnt; /* functions of the plan that are among them */
};

static int row_add(struct shares *w, const char *module)
{
	char *copy = strdup(module);

	if (!copy || ARRAY_RESERVE(&w->rows, w->rows_cnt, &w->rows_cap)) {
		free(copy);
		return -ENOMEM;
	}
	w->rows[w->rows_cnt++] = (struct profile_cpu_share){.module = copy};
	return 0;
}

int shares__new(const struct plan *plan, const struct target *target, const struct tracer *tracer,
		struct shares **out)
{
	struct shares *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->plan = plan;
	w->target = target;
	w->tracer = tracer;
	if (row_add(w, "[kernel]") || row_add(w, "[unknown]")) {
		shares__free(w);
		return -ENOMEM;
	}
	*out = w;
	return 0;
}

void shares__free(struct shares *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->rows_cnt; i++)
		free((char *)w->rows[i].module);
	for (size_t i = 0; i < w->processes_cnt; i++)
		free(w->processes[i].mappings);
	free(w->rows);
	free(w->processes);
	free(w->extents);
	free(w);
}

/* The number of a file's row. */
static uint32_t row_of(struct shares *w, const char *module)
{
	for (size_t i = ROWS_FIXED; i < w->rows_cnt; i++) {
		if (!strcmp(w->rows[i].module, module))
			return i;
	}
	if (w->rows_cnt >= ROWS_MAX || row_add(w, module))
		return IN_UNKNOWN;
	return w->rows_cnt - 1;
}

static uint32_t object_of(const struct shares *w, const struct mapping *m)
{
	for (size_t i = 0; i < w->target->objects_cnt; i++) {
		const struct target_object *o = &w->target->objects[i];

		if (o->ino == m->ino && o->dev_major == m->dev_major &&
		    o->dev_minor == m->dev_minor)
			return i;
	}
	return NO_OBJECT;
}

struct mapping_search {
	struct shares *w;
	struct process_map *p;
};

/* The file's name elsewhere in the result: an object's path may be the name that its process was
 * started by, as /usr/bin/redis-server, a link to redis-check-rdb. */
static const char *name_of(const struct shares *w, uint32_t object, const struct mapping *m)
{
	if (object != NO_OBJECT)
		return w->target->objects[object].path;
	return m->name[0] ? m->name : "[anonymous]";
}

static int add_mapping(const struct mapping *m, void *arg)
{
	struct mapping_search *s = arg;
	struct process_map *p = s->p;
	uint32_t object;

	if (!m->executable)
		return 0;
	if (p->cnt >= MAPPINGS_MAX || ARRAY_RESERVE(&p->mappings, p->cnt, &p->cap))
		return -ENOMEM;
	object = m->ino ? object_of(s->w, m) : NO_OBJECT;
	p->mappings[p->cnt++] = (struct code_mapping){
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.row = row_of(s->w, name_of(s->w, object, m)),
		.object = object,
	};
	return 0;
}

static struct process_map *process_of(struct shares *w, pid_t pid)
{
	for (size_t i = 0; i < w->processes_cnt; i++) {
		if (w->processes[i].pid == pid)
			return &w->processes[i];
	}
	if (w->processes_cnt >= PROCESSES_MAX ||
	    ARRAY_RESERVE(&w->processes, w->processes_cnt, &w->processes_cap))
		return NULL;
	w->processes[w->processes_cnt] = (struct process_map){.pid = pid};
	return &w->processes[w->processes_cnt++];
}

static const struct code_mapping *find_mapping(const struct process_map *p, uint64_t ip)
{
	for (size_t i = 0; i < p->cnt; i++) {
		if (ip - p->mappings[i].start < p->mappings[i].end - p->mappings[i].start)
			return &p->mappings[i];
	}
	return NULL;
}

/* The mapping that an address is in; NULL: none is known, as when the process has ended. */
static const struct code_mapping *mapping_of(struct shares *w, struct process_map *p, uint64_t ip)
{
	const struct code_mapping *m = find_mapping(p, ip);
	struct mapping_search s = {.w = w, .p = p};

	if (m || p->looked)
		return m;
	p->looked = true;
	p->cnt = 0;
	maps__for_each_mapping(p->pid, add_mapping, &s);
	return find_mapping(p, ip);
}

static int compare_extents(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Takes up functions that were planned since. Without memory they pass for not traced. */
static void extents_refresh(struct shares *w)
{
	const struct plan *p = w->plan;

	if (w->planned_cnt == p->functions_cnt)
		return;
	for (; w->planned_cnt < p->functions_cnt; w->planned_cnt++) {
		const struct plan_function *f = &p->functions[w->planned_cnt];

		if (f->kind != PLAN_FUNCTION)
			continue;
		if (ARRAY_RESERVE(&w->extents, w->extents_cnt, &w->extents_cap))
			break;
		w->extents[w->extents_cnt++] = (struct extent){.object = f->object,
							       .function = w->planned_cnt,
							       .offset = f->offset,
							       .end = f->offset + f->size};
	}
	if (w->extents_cnt)
		qsort(w->extents, w->extents_cnt, sizeof(*w->extents), compare_extents);
}

/* The last function of an object that begins at an offset of its file or before; NULL: none. */
static const struct extent *extent_before(const struct shares *w, uint32_t object, uint64_t offset)
{
	size_t lo = 0, hi = w->extents_cnt;

	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;
		const struct extent *e = &w->extents[middle];

		if (e->object < object || (e->object == object && e->offset <= offset))
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo && w->extents[lo - 1].object == object ? &w->extents[lo - 1] : NULL;
}

/* Whether the instruction at an offset of an object's file is in a function that is traced now. */
static bool is_traced(const struct shares *w, uint32_t object, uint64_t offset)
{
	const struct extent *e = extent_before(w, object, offset);

	if (!e || e->end <= offset)
		return false;
	return tracer__traces(w->tracer, e->function);
}

void shares__add(struct shares *w, const struct sample *sample)
{
	const struct code_mapping *m;
	struct profile_cpu_share *row;
	struct process_map *p;

	extents_refresh(w);
	if (sample->in_kernel) {
		w->rows[IN_KERNEL].samples++;
		return;
	}
	p = process_of(w, sample->pid);
	m = p ? mapping_of(w, p, sample->ip) : NULL;
	row = &w->rows[m ? m->row : IN_UNKNOWN];
	row->samples++;
	if (!m || m->object == NO_OBJECT || !extent_before(w, m->object, UINT64_MAX))
		return;
	row->probed = 1;
	row->traced += is_traced(w, m->object, sample->ip - m->start + m->offset);
}

void shares__round(struct shares *w)
{
	for (size_t i = 0; i < w->processes_cnt; i++)
		w->processes[i].looked = false;
}

int shares__apply(const struct shares *w, struct profile *p)
{
	p->cpu_shares = calloc(w->rows_cnt, sizeof(*p->cpu_shares));
	if (!p->cpu_shares)
		return -ENOMEM;
	memcpy(p->cpu_shares, w->rows, w->rows_cnt * sizeof(*p->cpu_shares));
	p->cpu_shares_cnt = w->rows_cnt;
	return 0;
}
