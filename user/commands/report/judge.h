/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether assertions hold of a profile. */
#ifndef PROFTRACE_REPORT_JUDGE_H
#define PROFTRACE_REPORT_JUDGE_H

struct assertion;
struct profile;

enum verdict { HOLDS, FAILS, UNKNOWN };

/*
 * Says in one line each where it does not hold, or why that cannot be told: no function matches, or
 * one of those was not counted call by call. `p` has been summarized.
 */
enum verdict judge(const struct assertion *a, const struct profile *p);

#endif
