// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A direct call goes to a place in the same segment, so it is as far in the file as in memory. The
 * code is read from its first byte to its last: data amid it may look like a call, which does no
 * harm, as a function must begin where it would lead.
 */
#include "planner/direct_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/insn.h"
#include "plan/plan.h"
#include "target/target.h"

#define CODE_MOST (256 * 1024) /* bytes of a function that are read */

/* A function's code, read from its file. */
struct text {
	uint8_t *bytes;
	size_t size;
	uint64_t offset;
};

struct place {
	uint64_t offset;
	uint32_t function;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The offsets of the object's functions, in order; NULL: no memory. */
static struct place *list_places(const struct plan *p, uint32_t object, size_t *cnt)
{
	struct place *places = calloc(p->functions_cnt + 1, sizeof(*places));

	*cnt = 0;
	for (uint32_t i = 0; places && i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		if (f->object == object && f->kind == PLAN_FUNCTION)
			places[(*cnt)++] = (struct place){f->offset, i};
	}
	if (*cnt)
		qsort(places, *cnt, sizeof(*places), compare_places);
	return places;
}

/* Reads the function's code; nothing if it cannot be read. Returns 0 or -ENOMEM. */
static int read_text(const struct target *t, const struct plan_function *f, struct text *out)
{
	size_t size = f->size < CODE_MOST ? f->size : CODE_MOST;
	ssize_t got;

	if (f->object >= t->objects_cnt || f->outside)
		return 0;
	out->bytes = malloc(size + 1);
	if (!out->bytes)
		return -ENOMEM;
	got = pread(t->objects[f->object].fd, out->bytes, size, (off_t)f->offset);
	out->size = got > 0 ? (size_t)got : 0;
	out->offset = f->offset;
	return 0;
}

/* Marks the functions that the code calls. */
static void mark_calls(struct insn_decoder *d, const struct text *text, const struct place *places,
		       size_t cnt, bool *called)
{
	struct insn in;

	for (size_t at = 0; at < text->size; at += in.length) {
		const struct place *found;
		struct place to;

		if (!insn_decode(d, text->bytes + at, text->size - at, &in)) {
			in.length = 1;
			continue;
		}
		if (in.flow != FLOW_CALL && in.flow != FLOW_JMP && in.flow != FLOW_JCC)
			continue;
		to.offset = text->offset + at + in.length + (uint64_t)in.rel;
		found = in.rel ? bsearch(&to, places, cnt, sizeof(*places), compare_places) : NULL;
		if (found)
			called[found->function] = true;
	}
}

static int64_t list_called(const bool *called, size_t functions_cnt, uint32_t but, uint32_t **out)
{
	size_t cnt = 0;

	*out = calloc(functions_cnt + 1, sizeof(**out));
	for (uint32_t i = 0; *out && i < functions_cnt; i++) {
		if (called[i] && i != but)
			(*out)[cnt++] = i;
	}
	return *out ? (int64_t)cnt : -ENOMEM;
}

int64_t direct_calls__of(const struct plan *p, const struct target *t, uint32_t function,
			 uint32_t **out)
{
	const struct plan_function *f = &p->functions[function];
	bool *called = calloc(p->functions_cnt + 1, sizeof(*called));
	struct insn_decoder *d = NULL;
	struct place *places = NULL;
	struct text text = {0};
	size_t places_cnt = 0;
	int64_t cnt = -ENOMEM;
	int err = called ? read_text(t, f, &text) : -ENOMEM;

	*out = NULL;
	if (!err && text.size) {
		places = list_places(p, f->object, &places_cnt);
		err = places ? insn_decoder__new(arch__host(), CALL_NOPS_NONE, &d) : -ENOMEM;
	}
	if (!err && text.size)
		mark_calls(d, &text, places, places_cnt, called);
	if (!err)
		cnt = list_called(called, p->functions_cnt, function, out);
	insn_decoder__free(d);
	free(places);
	free(text.bytes);
	free(called);
	return cnt;
}
