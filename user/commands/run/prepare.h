/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first half of a run, up to where tracing can begin. */
#ifndef PROFTRACE_RUN_PREPARE_H
#define PROFTRACE_RUN_PREPARE_H

struct run;

/* From the options to probes in place, the gate still closed. Returns 0, or -errno with one line
 * logged; what the run holds by then is the caller's to free. */
int prepare__run(struct run *r);

#endif
