/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where children are followed, probes may be in other processes that map the same files. They are
 * taken out of these once they cost them more than next to nothing.
 */
#ifndef PROFTRACE_RUN_SPARE_STRANGERS_H
#define PROFTRACE_RUN_SPARE_STRANGERS_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* Says which files' functions will not be seen in children, when probes are in. */
void spare_strangers__tell(const struct run *r);
/* A few times a second. Returns 0 or -errno with one line logged. */
int spare_strangers__look(struct run *r, uint64_t now_ns);

#endif
