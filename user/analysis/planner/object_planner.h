/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans the functions of one object of the target. Inside planner/ only. */
#ifndef PROFTRACE_PLANNER_OBJECT_PLANNER_H
#define PROFTRACE_PLANNER_OBJECT_PLANNER_H

#include <stdbool.h>
#include <stdint.h>

struct planning;

/* Plans the wanted functions of plan.objects[index], whose symbols are loaded, and appends them to
 * the plan, with what has to be proven for cheaper exits to the proofs. Returns 0 or -errno. */
int object_planner__plan(const struct planning *pn, uint32_t index);

/* Replaces the return probes of the object's functions by other exits, for good; `attached`: their
 * entries have probes already. Returns 0 or -errno. */
int object_planner__replace_returns(const struct planning *pn, uint32_t index, bool attached);

#endif
