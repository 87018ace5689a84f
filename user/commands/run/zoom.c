// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/zoom.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "budget/controller.h"
#include "calls/profile.h"
#include "plan/plan.h"
#include "planner/direct_calls.h"
#include "run/run.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

#define NAME_ROOM    40
#define BETWEEN_MOST 64 /* functions without probes between a caller and what it calls */

static bool is_probed(const struct plan *p, uint32_t function)
{
	return function < p->functions_cnt && p->functions[function].kind == PLAN_FUNCTION;
}

/* Whether a path's call was made by the function, perhaps through code without probes. */
static bool is_called_by(const struct plan *p, const struct profile *seen, uint32_t node,
			 uint32_t function)
{
	uint32_t at = seen->nodes[node].parent;

	for (int i = 0; at && i < BETWEEN_MOST; i++) {
		if (seen->nodes[at].function == function)
			return true;
		if (is_probed(p, seen->nodes[at].function))
			return false;
		at = seen->nodes[at].parent;
	}
	return false;
}

static void mark_seen(const struct plan *p, const struct profile *seen, uint32_t function,
		      bool *called)
{
	for (uint32_t i = 1; i < seen->nodes_cnt; i++) {
		uint32_t f = seen->nodes[i].function;

		if (f != function && is_probed(p, f) && !called[f])
			called[f] = is_called_by(p, seen, i, function);
	}
}

/* Marks what the function's own code calls. */
static int mark_planned(const struct run *r, uint32_t function, bool *called)
{
	uint32_t *callees = NULL;
	int64_t cnt = direct_calls__of(r->plan, r->target, function, &callees);

	for (int64_t i = 0; i < cnt; i++)
		called[callees[i]] = true;
	free(callees);
	return cnt < 0 ? (int)cnt : 0;
}

/* *functions = what it calls; the caller frees it. Returns how many, or -ENOMEM. */
static int64_t list_called(const struct run *r, const struct profile *seen, bool planned,
			   uint32_t **functions)
{
	const struct plan *p = r->plan;
	bool *called = calloc(p->functions_cnt + 1, sizeof(*called));
	int err = called ? 0 : -ENOMEM;
	int64_t cnt = 0;

	*functions = calloc(p->functions_cnt + 1, sizeof(**functions));
	if (!*functions)
		err = -ENOMEM;
	if (!err)
		mark_seen(p, seen, r->zoom.function, called);
	if (!err && planned && is_probed(p, r->zoom.function))
		err = mark_planned(r, r->zoom.function, called);
	for (uint32_t f = 0; !err && f < p->functions_cnt; f++) {
		if (called[f])
			(*functions)[cnt++] = f;
	}
	free(called);
	return err ? err : cnt;
}

/* Functions that cannot be made exact are logged, and are no reason to end the run. */
static int choose(struct run *r, const uint32_t *functions, size_t cnt, bool firm)
{
	int err = controller__choose(r->controller, functions, cnt,
				     firm ? CHOICE_FIRM : CHOICE_LAST, now_ns());

	return err == -ENOMEM ? err : 0;
}

/* "12 functions that it calls" */
static const char *name_called(size_t cnt, char *buf, size_t size)
{
	char text[32];

	snprintf(buf, size, "%s function%s that it calls", text_count(cnt, text, sizeof(text)),
		 cnt == 1 ? "" : "s");
	return buf;
}

static void tell(const struct run *r)
{
	const struct controller_chosen c = controller__chosen(r->controller);
	bool itself = controller__is_exact(r->controller, r->zoom.function);
	char name[NAME_ROOM], called[64], share[32], left[32], rest[128] = "";

	text_escape(plan__name(r->plan, r->zoom.function), name, sizeof(name));
	if (c.left)
		snprintf(rest, sizeof(rest), "; %s more would cost %s of the CPU time (! pays it)",
			 text_count(c.left, left, sizeof(left)),
			 text_percent(100 * c.left_share, share, sizeof(share)));
	log_info(itself ? "exact: %s and %s%s" : "%s has no probe; exact: %s%s", name,
		 name_called(c.exact - itself, called, sizeof(called)), rest);
}

int zoom__in(struct run *r, uint32_t function, bool all, const struct profile *seen)
{
	uint32_t *functions = NULL;
	int64_t cnt;
	int err;

	zoom__out(r);
	if (function >= r->plan->functions_cnt)
		return 0;
	r->zoom = (struct zoom){.on = true, .all = all, .function = function};
	cnt = list_called(r, seen, true, &functions);
	err = cnt < 0 ? (int)cnt : choose(r, &function, is_probed(r->plan, function), true);
	if (!err)
		err = choose(r, functions, (size_t)cnt, all);
	free(functions);
	if (!err)
		tell(r);
	return err;
}

void zoom__out(struct run *r)
{
	if (r->zoom.on)
		controller__release(r->controller);
	r->zoom.on = false;
}

uint32_t zoom__function(const struct run *r)
{
	return r->zoom.on ? r->zoom.function : ZOOM_NONE;
}

int zoom__follow(struct run *r, const struct profile *seen)
{
	uint32_t *functions = NULL;
	int64_t cnt;
	int err;

	if (!r->zoom.on)
		return 0;
	cnt = list_called(r, seen, false, &functions);
	err = cnt < 0 ? (int)cnt : choose(r, functions, (size_t)cnt, r->zoom.all);
	free(functions);
	return err;
}
