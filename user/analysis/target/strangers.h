/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who else maps the target's files. Probes that are for every process are in these as well, so they
 * are put in that way only where strangers are few.
 */
#ifndef PROFTRACE_TARGET_STRANGERS_H
#define PROFTRACE_TARGET_STRANGERS_H

#include <stdbool.h>

struct target;
struct target_object;

/* Sets `strangers` and `strangers_fragile` of all objects that do not have it yet. Where that
 * cannot be found out, or takes too long, there are STRANGERS_UNKNOWN. */
void strangers__look(struct target *t);

/* Whether they may have the object's probes for the sake of the target's children, as far as that
 * is known: as long as they do not run into them (budget/spare_strangers.h). */
bool strangers__bear_probes(const struct target_object *obj);

#endif
