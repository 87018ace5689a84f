// SPDX-License-Identifier: GPL-2.0-or-later
#include "regions/semaphores.h"

#include <errno.h>
#include <stdlib.h>

#include "plan/plan.h"
#include "plan/plan_lines.h"

/* A place in a file, and what guards the probe there. */
struct guard {
	uint64_t offset, semaphore;
	uint32_t object;
};

static int by_place(const void *a, const void *b)
{
	const struct guard *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static uint64_t semaphore_at(const struct guard *guards, size_t cnt, uint32_t object,
			     uint64_t offset)
{
	const struct guard key = {.object = object, .offset = offset};
	const struct guard *found = bsearch(&key, guards, cnt, sizeof(key), by_place);

	return found ? found->semaphore : 0;
}

/* All places in objects from the first one on that are guarded. */
static size_t gather_semaphores(const struct plan *p, size_t first, struct guard *guards)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		for (size_t k = f->sites; f->kind != PLAN_FUNCTION && f->object >= first &&
					  k < f->sites + f->begins_cnt + f->ends_cnt;
		     k++) {
			if (p->sites[k].semaphore)
				guards[cnt++] = (struct guard){p->sites[k].offset,
							       p->sites[k].semaphore, f->object};
		}
	}
	qsort(guards, cnt, sizeof(*guards), by_place);
	return cnt;
}

int semaphores__share(struct plan *p, size_t first)
{
	struct guard *guards = calloc(p->sites_cnt + 1, sizeof(*guards));
	size_t cnt = guards ? gather_semaphores(p, first, guards) : 0;

	for (size_t i = 0; cnt && i < p->functions_cnt; i++) {
		struct plan_function *f = &p->functions[i];

		if (f->kind == PLAN_FUNCTION && f->object >= first)
			f->semaphore =
				semaphore_at(guards, cnt, f->object, f->offset + f->entry.offset);
	}
	for (size_t i = 0; cnt && p->lines && i < p->lines->sites_cnt; i++) {
		struct plan_line_site *site = &p->lines->sites[i];
		uint32_t object = p->functions[site->function].object;

		if (object >= first)
			site->semaphore = semaphore_at(guards, cnt, object, site->offset);
	}
	free(guards);
	return guards ? 0 : -ENOMEM;
}
