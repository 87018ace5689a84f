// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/planned.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "plan/plan.h"
#include "util/hash.h"

#define FIRST_CAP 1024

static bool is_in_file(const struct plan_function *f)
{
	return !f->outside && (f->kind == PLAN_FUNCTION || f->kind == PLAN_CALLER);
}

/* The function's place in the table, or the free place where it would be. */
static uint32_t *slot_of(const struct planned *t, const struct plan *p, uint32_t object,
			 uint64_t offset)
{
	size_t at = hash__mix(offset ^ (uint64_t)object << 44);

	for (;; at++) {
		uint32_t *slot = &t->slots[at & (t->cap - 1)];
		const struct plan_function *f = *slot ? &p->functions[*slot - 1] : NULL;

		if (!f || (f->object == object && f->offset == offset))
			return slot;
	}
}

static void put(struct planned *t, const struct plan *p, uint32_t number)
{
	const struct plan_function *f = &p->functions[number];
	uint32_t *slot = slot_of(t, p, f->object, f->offset);

	if (*slot)
		return;
	*slot = number + 1;
	t->cnt++;
}

/* Has twice as many slots. Returns 0 or -ENOMEM. */
static int grow(struct planned *t, const struct plan *p)
{
	struct planned more = {.cap = t->cap ? 2 * t->cap : FIRST_CAP, .seen = t->seen};

	more.slots = calloc(more.cap, sizeof(*more.slots));
	if (!more.slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->cap; i++) {
		if (t->slots[i])
			put(&more, p, t->slots[i] - 1);
	}
	free(t->slots);
	*t = more;
	return 0;
}

int planned__find(struct planned *t, const struct plan *p, uint32_t object, uint64_t offset,
		  uint32_t *function)
{
	uint32_t found;

	for (; t->seen < p->functions_cnt; t->seen++) {
		if (!is_in_file(&p->functions[t->seen]))
			continue;
		if (2 * t->cnt >= t->cap && grow(t, p))
			return -ENOMEM;
		put(t, p, t->seen);
	}
	found = t->cap ? *slot_of(t, p, object, offset) : 0;
	*function = found ? found - 1 : PLANNED_NONE;
	return 0;
}

void planned__free(struct planned *t)
{
	free(t->slots);
	*t = (struct planned){0};
}
