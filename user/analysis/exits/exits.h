/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a function's leave is seen. A return probe rewrites the return address on the target's stack,
 * which kills programs that unwind or switch stacks through it; so it is used only where nothing
 * mapped can do that, or where the function itself proves it harmless.
 */
#ifndef PROFTRACE_EXITS_EXITS_H
#define PROFTRACE_EXITS_EXITS_H

#include <stdbool.h>

#include "plan/exit_strategy.h"
#include "select/deny.h"
#include "symbol/traits.h"

struct code;

/* Facts about all code that may run together with the function. */
struct exit_context {
	unsigned traits;    /* TRAIT_* of everything the processes map, libc apart */
	bool no_returns;    /* return probes are switched off */
	const char *reason; /* for the exits that follow from `traits`; owned by the caller */
	const char
		*hazard; /* why this kernel's return probes are deadly there; NULL: they aren't */
	/* Why return probes might crash the kernel, also if they are asked for; NULL: they won't.
	 */
	const char *crash;
	bool forced; /* --exits: `strategy` for all */
	enum exit_strategy strategy;
};

struct exit_choice {
	enum exit_strategy strategy;
	const char *reason;
};

/* Forcing goes as far as the function allows: one that looks at its return address keeps it. */
struct exit_choice exits__choose(const struct exit_context *ctx, const struct code *code,
				 enum deny_verdict deny);

/* The exit of a leaf that runs its instructions and returns: none, as its entry's probe ends the
 * call. Returns how many instructions it runs at most; 0: it is not such a one, or exits are
 * forced. */
unsigned exits__close_at_entry(const struct exit_context *ctx, const struct code *code,
			       struct exit_choice *exit);

/* The choice for a function without return probes: probes on its exits if all are known. */
struct exit_choice exits__without_return(const struct code *code, const char *reason);

/* Whether return probes are dangerous in some of the functions. */
bool exits__return_unsafe(const struct exit_context *ctx);

/* Whether functions may be proven to be exempt from that. */
bool exits__provable(const struct exit_context *ctx);

#endif
