/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What functions and lines have done so far, over all lanes: sums, without a profile. Inside
 * collect/ only; the sums themselves are the collector's: see collector.h. */
#ifndef PROFTRACE_COLLECT_USAGE_H
#define PROFTRACE_COLLECT_USAGE_H

#include <stdint.h>

struct collector;
struct part;

/* Adds what an ended lane has done. Before its part is corrected: usage is as measured. Returns 0
 * or -ENOMEM. */
int usage__add_retired(struct collector *c, const struct part *part);

#endif
