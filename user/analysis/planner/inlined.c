// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A run takes samples of code all over its target, and is to cost little itself: debug information
 * that takes long to open, as all of it has to be unpacked, is left closed, and lookups have an
 * allowance of CPU time together. The hottest code is met first, so what is left out then is rare.
 * Debug information that takes a moment to open is opened once samples have met the file's own code
 * for fifty times as long, so that it takes 2 % of the CPU time that it explains: that of libc
 * takes 50 to 100 ms to unpack, and most programs hardly run in it.
 */
#include "planner/inlined.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/line_table.h"
#include "exits/exits.h"
#include "plan/object.h"
#include "plan/plan.h"
#include "planner/callers.h"
#include "planner/locate.h"
#include "target/target.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

#define OPEN_NS	   150000000ull /* CPU time, to open an object's */
#define SHORT_NS   3000000ull	/* the same: nothing to wait for */
#define MET_TIMES  50
#define LOOKUPS_NS 300000000ull /* for all lookups */
#define MOST_KNOWN 65536

enum decision {
	UNDECIDED,
	WAITING,
	READ,
	LEFT_OUT,
};

struct inlined_object {
	enum decision decision;
	uint64_t open_ns; /* CPU time, to open it */
	uint64_t met_ns;  /* of samples that have met the object's code */
};

struct inlined_function {
	uint32_t object;
	const char *name;
	const char *file; /* NULL: unknown */
	uint32_t line;
	uint32_t number;
};

static int order(const void *a, const void *b)
{
	const struct inlined_function *x = a, *y = b;
	int names;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	names = strcmp(x->name, y->name);
	if (!names)
		names = strcmp(x->file ?: "", y->file ?: "");
	if (names)
		return names;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int append(struct plan *p, struct inlined_function *f)
{
	const struct plan_function function = {.kind = PLAN_INLINED,
					       .symbol = f->name,
					       .object = f->object,
					       .exit = EXIT_NONE,
					       .reason = "its code is part of others'",
					       .symbol_index = UINT32_MAX};
	int err = plan_callers__append(p, function, &f->number);

	return err ? err : plan__place(p, f->number, f->file, f->line);
}

/* *number = that of the function in the plan. -ENOSPC: there are too many. */
static int number_of(struct plan_inlined *in, struct plan *p, const struct inlined_function *wanted,
		     uint32_t *number)
{
	struct inlined_function **known = tfind(wanted, &in->known, order), *f;
	int err;

	if (known) {
		*number = (*known)->number;
		return 0;
	}
	if (in->known_cnt == MOST_KNOWN)
		return -ENOSPC;
	f = malloc(sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = *wanted;
	err = append(p, f);
	if (!err && !tsearch(f, &in->known, order))
		err = -ENOMEM;
	if (err) {
		free(f);
		return err;
	}
	in->known_cnt++;
	*number = f->number;
	return 0;
}

static enum decision decide(const struct plan_inlined *in, const struct plan_object *obj,
			    const struct target_object *target, uint64_t open_ns)
{
	if (!obj->img)
		return LEFT_OUT;
	if (in->all || obj->source_opened || open_ns <= SHORT_NS)
		return READ;
	if (open_ns <= OPEN_NS)
		return in->waits ? WAITING : READ;
	log_info("%s: its debug information is large, so functions that are inlined are not told "
		 "apart; --inlines does, and takes longer",
		 target->path);
	return LEFT_OUT;
}

void plan_inlined__met(struct plan_inlined *in, uint32_t object, uint64_t ns)
{
	if (object < in->objects_cnt)
		in->objects[object].met_ns += ns;
}

/* *out = what tells of the object; NULL: nothing, or that is not read. */
static int source_of(struct plan_inlined *in, const struct plan *p, const struct target *t,
		     uint32_t object, struct line_table **out)
{
	struct inlined_object *o;
	int err;

	*out = NULL;
	if (object >= p->objects_cnt || object >= t->objects_cnt)
		return 0;
	err = ARRAY_GROW(&in->objects, &in->objects_cnt, (size_t)object + 1);
	if (err)
		return err;
	o = &in->objects[object];
	if (o->decision == UNDECIDED) {
		const struct plan_object *obj = &p->objects[object];

		o->open_ns = obj->img ? line_table__open_ns(obj->img, t->objects[object].root) : 0;
		o->decision = decide(in, obj, &t->objects[object], o->open_ns);
	}
	if (o->decision == WAITING &&
	    (p->objects[object].source_opened || o->met_ns >= MET_TIMES * o->open_ns))
		o->decision = READ;
	if (o->decision == WAITING)
		return -EAGAIN;
	return o->decision == READ ? plan__source(p, t, object, out) : 0;
}

/* Looks an address up, for as long as there is time left. */
static int look_up(struct plan_inlined *in, struct line_table *source, uint64_t vaddr,
		   struct line_inlined found[LINE_INLINED_MAX], size_t *cnt)
{
	uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int err = line_table__inlined_at(source, vaddr, found, cnt);

	in->spent_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
	if (in->spent || in->all || in->spent_ns <= LOOKUPS_NS)
		return err;
	in->spent = true;
	log_info("looking for inlined functions takes long: of what samples meet from here on for "
		 "the first time they are not told apart; --inlines does");
	return err;
}

int plan_inlined__find(struct plan_inlined *in, struct plan *p, const struct target *t,
		       struct plan_code at, uint32_t functions[PLAN_INLINED_MAX], size_t *cnt)
{
	struct line_inlined found[LINE_INLINED_MAX];
	struct line_table *source;
	size_t found_cnt = 0;
	int err;

	*cnt = 0;
	if (in->spent)
		return 0;
	err = source_of(in, p, t, at.object, &source);
	if (!err && source)
		err = look_up(in, source, at.vaddr, found, &found_cnt);
	for (size_t i = 0; !err && i < found_cnt && *cnt < PLAN_INLINED_MAX; i++) {
		const struct inlined_function wanted = {at.object, found[i].name, found[i].file,
							found[i].line, 0};

		err = number_of(in, p, &wanted, &functions[*cnt]);
		*cnt += !err;
		err = err == -ENOSPC ? 0 : err;
	}
	return err;
}

void plan_inlined__free(struct plan_inlined *in)
{
	tdestroy(in->known, free);
	free(in->objects);
	*in = (struct plan_inlined){0};
}
