// SPDX-License-Identifier: GPL-2.0-or-later
#include "exits/emulation.h"

#include <errno.h>
#include <stdlib.h>

#include "plan/plan.h"
#include "plan/plan_lines.h"
#include "util/array.h"

/* The place of a probe. */
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

/* An instruction that may be emulated is no site of another class. */
static int add(struct places *places, uint32_t object, uint64_t offset, uint8_t site)
{
	if (site != SITE_STEP && site != SITE_EMUL)
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

/* All probes of ours but exits that are on an instruction which the kernel would step, or may be.
 */
static int gather(struct places *places, const struct plan *p)
{
	const struct plan_lines *lines = p->lines;
	int err = 0;

	for (size_t i = 0; !err && i < p->hooks_cnt; i++)
		err = add(places, p->hooks[i].object, p->hooks[i].offset, SITE_STEP);
	for (size_t i = 0; !err && i < p->functions_cnt; i++)
		err = add_function(places, p, &p->functions[i]);
	for (size_t i = 0; !err && lines && i < lines->sites_cnt; i++) {
		const struct plan_line_site *s = &lines->sites[i];

		err = add(places, p->functions[s->function].object, s->offset, s->site);
	}
	return err;
}

/* Whether there is a probe, or, with `others`, more than one. */
static bool has(const struct places *places, const struct place *at, bool others)
{
	const struct place *found = bsearch(at, places->at, places->at_cnt, sizeof(*at), compare);

	if (!found || !others)
		return found;
	return (found > places->at && !compare(found - 1, at)) ||
	       (found + 1 < places->at + places->at_cnt && !compare(found + 1, at));
}

static void spare_entry(const struct places *places, struct plan_function *f)
{
	const struct place at = {f->object, f->offset + f->entry.offset};

	if (f->kind != PLAN_FUNCTION || f->entry.site != SITE_EMUL || !has(places, &at, true))
		return;
	f->entry.site = SITE_STEP;
	f->entry.emulation = (struct wire_emulation){0};
}

static void spare_exits(const struct places *places, struct plan *p, const struct plan_function *f)
{
	for (uint32_t i = 0; i < f->exits_cnt; i++) {
		struct plan_exit *exit = &p->exits[f->exits + i];
		const struct place at = {f->object, exit->offset};

		if (exit->emulated && has(places, &at, false))
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
	for (size_t i = 0; i < p->functions_cnt && !any; i++)
		any = p->functions[i].entry.site == SITE_EMUL;
	if (!any)
		return 0;
	err = gather(&places, p);
	if (!err && places.at_cnt) {
		qsort(places.at, places.at_cnt, sizeof(*places.at), compare);
		for (size_t i = 0; i < p->functions_cnt; i++) {
			spare_entry(&places, &p->functions[i]);
			spare_exits(&places, p, &p->functions[i]);
		}
	}
	free(places.at);
	return err;
}
