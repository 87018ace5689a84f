/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Telling the user which lines have no code, and why. Inside planner/ only. */
#ifndef PROFTRACE_PLANNER_LINE_REPORT_H
#define PROFTRACE_PLANNER_LINE_REPORT_H

struct line_specs;
struct plan;
struct target;

/* Says of each that was asked for and has no code, once, what can be said about it. The line tables
 * must still be open. Returns 0 or -ENOMEM. */
int line_report__unfound(const struct plan *p, const struct target *t, struct line_specs *specs);

#endif
