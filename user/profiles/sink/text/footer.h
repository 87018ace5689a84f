/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a report for people. */
#ifndef PROFTRACE_SINK_TEXT_FOOTER_H
#define PROFTRACE_SINK_TEXT_FOOTER_H

#include <stdbool.h>

struct printer;

/* Prints how calls ended, what was lost, what the probes cost, what was probed, and what was
 * dropped; if the report is `empty`, why that may be. Returns 0 or -errno. */
int footer__print(struct printer *pr, bool empty);

#endif
