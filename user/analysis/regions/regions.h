/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regions: stretches of code that their author has named, by static probes (proftrace.h), by
 * functions that do nothing but mark a place, or by other programs' probes that come in pairs.
 * Probes without a partner are marks. See wire.h and bpf/regions.bpf.h for what becomes of them.
 */
#ifndef PROFTRACE_REGIONS_REGIONS_H
#define PROFTRACE_REGIONS_REGIONS_H

#include <stdbool.h>
#include <stddef.h>

struct filter;
struct plan;
struct plan_options;
struct symbol;
struct target;

/* The provider whose probes are regions without being asked for. */
#define REGIONS_PROVIDER "proftrace"

/* Notes where the static probes of the target's objects are that may be regions, from the first
 * object on, for their functions to be planned. Returns 0 or -ENOMEM. */
int regions__look_for_probes(struct plan *p, const struct target *t, size_t first,
			     struct filter *filter, const struct plan_options *opts);

/* Plans the wanted regions of the target's objects from the first one on, and appends them to the
 * plan's functions. Returns 0 or -errno. */
int regions__plan(struct plan *p, const struct target *t, size_t first, struct filter *filter,
		  const struct plan_options *opts);

/* Whether the function does nothing but mark where a region begins or ends. */
bool regions__is_site(const struct symbol *sym);

#endif
