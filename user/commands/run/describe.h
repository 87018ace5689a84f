/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives a collected profile what only the plan and the command line know: names, target, probes. */
#ifndef PROFTRACE_RUN_DESCRIBE_H
#define PROFTRACE_RUN_DESCRIBE_H

#include <stdbool.h>

struct arguments;
struct options;
struct plan;
struct profile;
struct target;
struct tracer;

struct description;

/* For a plan that has been attached; `a`: the lists that it was made with. All are borrowed.
 * Returns 0 or -ENOMEM. */
int describe__new(const struct plan *p, const struct target *t, const struct tracer *tr,
		  const struct options *o, const struct arguments *a, struct description **out);
void describe__free(struct description *d); /* accepts NULL */

/* Fills p->functions, p->arguments, p->target and p->probes, demangles the names that the profile
 * shows, and with `places` finds out where functions that were called are in their source. The
 * description must outlive the profile. Returns 0 or -ENOMEM. */
int describe__apply(struct description *d, struct profile *p, bool places);

#endif
