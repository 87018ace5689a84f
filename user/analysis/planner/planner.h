/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the plan (plan/plan.h) of a target. */
#ifndef PROFTRACE_PLANNER_PLANNER_H
#define PROFTRACE_PLANNER_PLANNER_H

#include <stdbool.h>
#include <stdint.h>

struct filter;
struct plan;
struct plan_options;
struct target;

/*
 * Plans every wanted function of the target's objects. Returns 0, or -errno with a line logged;
 * -ENOENT if the filter, or an argument list, matches no function: then the nearest names have been
 * listed, or, of lines, what can be said about them.
 * The target must outlive the plan. With opts->grows a plan without functions is one to wait with,
 * if the filter names files that are not mapped yet, or new programs are expected.
 */
int planner__make(const struct target *t, struct filter *filter, const struct plan_options *opts,
		  struct plan **out);

/*
 * Plans what the target has got since: functions are appended, none moves. If what is new makes
 * return probes dangerous, functions that have them get other exits (`returns_replaced`).
 * Returns 0 or -errno with a line logged.
 */
int planner__extend(struct plan *p, const struct target *t, struct filter *filter,
		    const struct plan_options *opts);

/*
 * Links on the target's object are, or will be, bound to one process each: has its functions get
 * other exits than return probes where these might crash the kernel then (target/hazard.c).
 * `attached`: their entries have probes already. Returns 0 or -ENOMEM.
 */
int planner__bind(struct plan *p, const struct target *t, const struct plan_options *opts,
		  uint32_t object, bool attached);

/* Another tool has return probes on the target's functions: these get other exits, for good
 * (`returns_replaced`). Returns 0 or -ENOMEM. */
int planner__give_up_returns(struct plan *p, const struct target *t,
			     const struct plan_options *opts);

#endif
