// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When the budget drops a function, its time becomes its callers' from then on, and no two runs
 * drop the same functions at the same moments. Where both runs have samples, a function's CPU time
 * is known of the whole run all the same, and is compared. What had no probe in one run, because it
 * was too small for one, is no different.
 */
#include "diff/diff_common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "util/search.h"
#include "util/text.h"
#include "views/filter.h"

struct common {
	const struct diff_run *runs;
	const struct function_pair *pairs;
	size_t pairs_cnt;
	bool *called[DIFF_RUNS];  /* by function of the run */
	bool *dropped[DIFF_RUNS]; /* likewise: was given up, and is in part an unknown */
	bool *keep[DIFF_RUNS];
	const struct profile_skip **skips[DIFF_RUNS]; /* by name */
	bool samples; /* tell of functions without probes, in both runs */
	struct diff_left_out *left_out;
	size_t left_out_cnt;
};

static const char *text(const char *s)
{
	return s ? s : "";
}

static int compare_skips(const void *a, const void *b)
{
	const struct profile_skip *x = *(const struct profile_skip *const *)a;
	const struct profile_skip *y = *(const struct profile_skip *const *)b;

	return strcmp(text(x->name), text(y->name));
}

/* Whether the run knew a function that it has not probed. */
static bool skipped(const struct common *c, uint32_t run, const struct profile_function *f)
{
	const struct profile_skip **skips = c->skips[run];
	size_t cnt = c->runs[run].profile->probes.skipped_cnt;
	size_t i = LOWER_BOUND(cnt, at, strcmp(text(skips[at]->name), text(f->name)) < 0);

	for (; i < cnt && !strcmp(text(skips[i]->name), text(f->name)); i++) {
		if (!strcmp(path_base(text(skips[i]->module)), path_base(text(f->module))))
			return true;
	}
	return false;
}

static int prepare(struct common *c, uint32_t run)
{
	const struct profile *p = c->runs[run].profile;
	size_t cnt = p->probes.skipped_cnt;

	c->called[run] = calloc(p->functions_cnt + 1, sizeof(bool));
	c->dropped[run] = calloc(p->functions_cnt + 1, sizeof(bool));
	c->keep[run] = calloc(p->functions_cnt + 1, sizeof(bool));
	c->skips[run] = calloc(cnt + 1, sizeof(*c->skips[run]));
	if (!c->called[run] || !c->dropped[run] || !c->keep[run] || !c->skips[run])
		return -ENOMEM;
	memset(c->keep[run], true, p->functions_cnt);
	for (size_t i = 1; i < p->nodes_cnt; i++)
		c->called[run][p->nodes[i].function] = true;
	for (size_t i = 0; i < p->drops_cnt; i++)
		c->dropped[run][p->drops[i].function] |= !p->drops[i].sampled;
	for (size_t i = 0; i < cnt; i++)
		c->skips[run][i] = &p->probes.skipped[i];
	qsort(c->skips[run], cnt, sizeof(*c->skips[run]), compare_skips);
	return 0;
}

/* Why the run does not know all of the pair's function; NULL if it does. */
static const char *missing(const struct common *c, size_t pair, uint32_t run)
{
	uint32_t own = c->pairs[pair].of[run], other = c->pairs[pair].of[!run];

	if (own != NO_FUNCTION)
		return c->dropped[run][own] && !c->samples ? "dropped to keep to the budget" : NULL;
	return skipped(c, run, &c->runs[!run].profile->functions[other]) ? "not probed" : NULL;
}

static void judge(struct common *c, size_t pair)
{
	const struct function_pair *p = &c->pairs[pair];
	struct diff_left_out l = {.function = pair};
	bool called = false, complete = true;

	for (uint32_t run = 0; run < DIFF_RUNS; run++) {
		called |= p->of[run] != NO_FUNCTION && c->called[run][p->of[run]];
		l.reason[run] = missing(c, pair, run);
		complete &= !l.reason[run];
	}
	if (!called || complete)
		return;
	c->left_out[c->left_out_cnt++] = l;
	for (uint32_t run = 0; run < DIFF_RUNS; run++) {
		if (p->of[run] != NO_FUNCTION)
			c->keep[run][p->of[run]] = false;
	}
}

/* If one run alone has samples, what it knows from them alone is no news: it becomes part of the
 * callers again, whose time it was taken from. */
static bool leave_out_samples(struct common *c)
{
	struct profile *const p[] = {c->runs[DIFF_OLD].profile, c->runs[DIFF_NEW].profile};
	uint32_t run = p[DIFF_OLD]->sample_period_ns ? DIFF_OLD : DIFF_NEW;
	bool any = false;

	if (!p[DIFF_OLD]->sample_period_ns == !p[DIFF_NEW]->sample_period_ns)
		return false;
	for (size_t i = 0; i < p[run]->functions_cnt; i++) {
		if (!function_kind__of_stacks(p[run]->functions[i].kind))
			continue;
		c->keep[run][i] = false;
		any = true;
	}
	p[run]->sample_period_ns = 0; /* what is left was measured */
	return any;
}

int diff_common__leave_out(const struct diff_run runs[DIFF_RUNS], const struct function_pair *pairs,
			   size_t pairs_cnt, bool by_samples, struct diff_left_out **out,
			   size_t *cnt)
{
	struct common c = {.runs = runs, .pairs = pairs, .pairs_cnt = pairs_cnt};
	bool filter;
	int err = 0;

	c.samples = by_samples && runs[DIFF_OLD].profile->sample_period_ns &&
		    runs[DIFF_NEW].profile->sample_period_ns;
	c.left_out = calloc(pairs_cnt + 1, sizeof(*c.left_out));
	if (!c.left_out)
		err = -ENOMEM;
	for (uint32_t run = 0; run < DIFF_RUNS && !err; run++)
		err = prepare(&c, run);
	for (size_t i = 0; i < pairs_cnt && !err; i++)
		judge(&c, i);
	filter = !err && (leave_out_samples(&c) | (c.left_out_cnt != 0));
	for (uint32_t run = 0; run < DIFF_RUNS && filter && !err; run++)
		err = profile__filter(runs[run].profile,
				      &(struct profile_filter){.functions = c.keep[run]});
	for (uint32_t run = 0; run < DIFF_RUNS; run++) {
		free(c.called[run]);
		free(c.dropped[run]);
		free(c.keep[run]);
		free(c.skips[run]);
	}
	if (err) {
		free(c.left_out);
		return err;
	}
	*out = c.left_out;
	*cnt = c.left_out_cnt;
	return 0;
}
