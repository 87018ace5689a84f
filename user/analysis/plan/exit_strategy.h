/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a function's leave is seen. exits/ chooses; the plan holds what was chosen. */
#ifndef PROFTRACE_PLAN_EXIT_STRATEGY_H
#define PROFTRACE_PLAN_EXIT_STRATEGY_H

#include "symbol/traits.h"

enum exit_strategy {
	EXIT_RETURN, /* the kernel's return probe: cheap, changes the return address */
	EXIT_SITES,  /* a probe on every ret and jump out: changes nothing */
	EXIT_NONE,   /* inferred from the stack pointer at the thread's next event */
	EXIT_STRATEGIES,
};

/* Traits that make return probes dangerous for whatever runs in the same process. */
#define EXIT_DEADLY_TRAITS (TRAIT_UNWINDS | TRAIT_SWITCHES | TRAIT_GO | TRAIT_INSPECTS)
/* And those that make it say something else than it would untraced. */
#define EXIT_UNSAFE_TRAITS (EXIT_DEADLY_TRAITS | TRAIT_SHOWS)

const char *exit_strategy__name(enum exit_strategy s);

#endif
