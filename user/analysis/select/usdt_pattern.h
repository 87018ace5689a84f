/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --usdt: which of other programs' static probes are wanted. */
#ifndef PROFTRACE_SELECT_USDT_PATTERN_H
#define PROFTRACE_SELECT_USDT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "select/probe_name.h"

struct filter_object;
struct usdt_probe;

/* [OBJECT:]PROVIDER:NAME, of globs; or 'BEGIN -> END', two of them that make one region. */
struct usdt_pattern {
	const char *text; /* as it was given; borrowed */
	char *object;	  /* NULL: any */
	char *provider, *name;
	char *end_provider, *end_name; /* NULL: not a pair */
	bool matched, end_matched;
};

struct usdt_patterns {
	struct usdt_pattern *items;
	size_t cnt;
};

/* Returns 0, or -errno with one line logged that says what is wrong; texts are borrowed. */
int usdt_patterns__parse(struct usdt_patterns *u, char *const *texts, size_t cnt);
void usdt_patterns__clear(struct usdt_patterns *u);

/* The first pattern that matches the probe, of pairs the half of it in *role (else PROBE_MARK);
 * NULL: none does. Notes which have matched. `u` may be NULL. */
const struct usdt_pattern *usdt_patterns__match(struct usdt_patterns *u,
						const struct filter_object *obj,
						const struct usdt_probe *probe,
						enum probe_role *role);

#endif
