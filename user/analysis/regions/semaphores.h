/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Semaphores: counts in a program's memory of those who look at a static probe, which the kernel
 * raises while the probe is in. It takes but one for an instruction.
 */
#ifndef PROFTRACE_REGIONS_SEMAPHORES_H
#define PROFTRACE_REGIONS_SEMAPHORES_H

#include <stddef.h>

struct plan;

/* Functions and lines that are probed where a static probe is get its semaphore, too. Of objects
 * from the first one on. Returns 0 or -ENOMEM. */
int semaphores__share(struct plan *p, size_t first);

#endif
