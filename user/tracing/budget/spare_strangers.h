/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where children are followed, probes may be in other processes that map the same files. They are
 * taken out of these once they cost them more than next to nothing.
 */
#ifndef PROFTRACE_BUDGET_SPARE_STRANGERS_H
#define PROFTRACE_BUDGET_SPARE_STRANGERS_H

#include <stdbool.h>
#include <stdint.h>

struct budget_inputs;

/* Says which files' functions will not be seen in children, when probes are in. */
void spare_strangers__tell(const struct budget_inputs *in);

/* Whether the others have paid too much in `ran_ns`, the time since the start: then tracer__bind()
 * takes the probes out of them. */
bool spare_strangers__is_due(const struct budget_inputs *in, uint64_t ran_ns);

#endif
