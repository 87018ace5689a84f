// SPDX-License-Identifier: GPL-2.0-or-later
#include "exits/emulation.h"

#include <errno.h>
#include <stdlib.h>

#include "plan/plan.h"
#include "plan/plan_lines.h"
#include "util/array.h"

/* Where a probe is. */
struct place {
	uint32_t object;
	uint64_t offset;
};

struct places {
	struct place *at;
	size_t at_cnt, at_cap;
};

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* A `ret` is no site of another class. */
static int add(struct places *places, uint32_t object, uint64_t offset, uint8_t site)
{
	if (site != SITE_STEP)
		return 0;
	if (ARRAY_RESERVE(&places->at, places->at_cnt, &places->at_cap))
		return -ENOMEM;
	places->at[places->at_cnt++] = (struct place){object, offset};
	return 0;
}

static int add_function(struct places *places, const struct plan *p, const struct plan_function *f)
{
	int err = 0;

	if (f->kind == PLAN_FUNCTION)
		return add(places, f->object, f->offset + f->entry.offset, f->entry.site);
	for (uint32_t i = 0; !err && i < f->begins_cnt + f->ends_cnt; i++) {
		const struct plan_site *s = &p->sites[f->sites + i];

		err = add(places, f->object, s->offset, s->site);
	}
	return err;
}

/* All probes of ours but exits that are on an instruction which the kernel would step. */
static int gather(struct places *places, const struct plan *p)
{
	const struct plan_lines *lines = p->lines;
	int err = 0;

	for (size_t i = 0; !err && i < p->functions_cnt; i++)
		err = add_function(places, p, &p->functions[i]);
	for (size_t i = 0; !err && lines && i < lines->sites_cnt; i++) {
		const struct plan_line_site *s = &lines->sites[i];

		err = add(places, p->functions[s->function].object, s->offset, s->site);
	}
	return err;
}

static void spare(const struct places *places, struct plan *p, const struct plan_function *f)
{
	for (uint32_t i = 0; i < f->exits_cnt; i++) {
		struct plan_exit *exit = &p->exits[f->exits + i];
		const struct place at = {f->object, exit->offset};

		if (exit->emulated && bsearch(&at, places->at, places->at_cnt, sizeof(at), compare))
			exit->emulated = false;
	}
}

int emulation__spare_shared(struct plan *p)
{
	struct places places = {0};
	bool any = false;
	int err;

	for (size_t i = 0; i < p->exits_cnt && !any; i++)
		any = p->exits[i].emulated;
	if (!any)
		return 0;
	err = gather(&places, p);
	if (!err && places.at_cnt) {
		qsort(places.at, places.at_cnt, sizeof(*places.at), compare);
		for (size_t i = 0; i < p->functions_cnt; i++)
			spare(&places, p, &p->functions[i]);
	}
	free(places.at);
	return err;
}
