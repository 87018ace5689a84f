/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line on a terminal's stderr that tells how the run goes. */
#ifndef PROFTRACE_RUN_PROGRESS_H
#define PROFTRACE_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct collector;

struct progress {
	bool enabled, shown;
};

void progress__init(struct progress *p, bool quiet);
/* `off`: tracing is switched off. */
void progress__show(struct progress *p, uint64_t elapsed_ns, bool off, const struct collector *c);
void progress__clear(struct progress *p); /* leaves the line empty for others */

#endif
