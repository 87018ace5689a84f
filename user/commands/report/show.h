/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a profile, live or out of a recording, to what the user wants to see of it. */
#ifndef PROFTRACE_REPORT_SHOW_H
#define PROFTRACE_REPORT_SHOW_H

#include <stddef.h>

struct options;
struct output;
struct profile;
struct value_names;

/* Whether the profile has what the format shows. Returns 0, or -errno with one line logged. */
int show__possible(const struct options *o, const struct profile *p);

/* Tells apart what --by does; for profiles with single calls, before what follows. `names` is to be
 * freed behind the profile. Returns 0, or -errno with one line logged. */
int show__split(const struct options *o, struct profile *p, struct value_names *names);

/* Leaves what --range, -F, -N, -D and --thread choose: for recordings; live, nothing else was
 * traced. *p is linked and stays so. Returns 0, or -errno with one line logged. */
int show__filter(const struct options *o, struct profile *p);

/* Like show__filter(), for several profiles: a pattern must match something in one of them. */
int show__filter_all(const struct options *o, struct profile *const *p, size_t cnt);

/* Looks for sessions, makes one of a thread's call stacks, sums up, leaves out what is cheap, and
 * writes *p, which is linked and may be replaced. Returns 0, -EPIPE, or -errno with one line
 * logged. */
int show__write(struct output *out, const struct options *o, struct profile **p);

#endif
