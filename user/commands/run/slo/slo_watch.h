/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --slo in a run: rules are judged, and where one is broken the run looks closer, and makes a
 * recording. It is above run/, which knows nothing of it. */
#ifndef PROFTRACE_RUN_SLO_SLO_WATCH_H
#define PROFTRACE_RUN_SLO_SLO_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct run;
struct slo_watch;

/* All return 0, or -errno with one line logged. */

/* Before anything else is opened: --on-slow has a process of its own. */
int slo_watch__new(struct run *r);
void slo_watch__free(struct slo_watch *s); /* accepts NULL */

/* Functions that were planned since the last time are watched, if rules match them. */
int slo_watch__add(struct run *r, uint64_t now_ns);

/* How many are. */
size_t slo_watch__functions(const struct slo_watch *s);

/* A few times a second. */
int slo_watch__tick(struct run *r, uint64_t now_ns);

/* Nothing is traced any more: writes what was being recorded, and says what there was. */
int slo_watch__finish(struct run *r, uint64_t now_ns);

#endif
