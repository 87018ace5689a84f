/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a function's leave is seen. A return probe rewrites the return address on the target's stack,
 * which kills programs that unwind or switch stacks through it; so it is used only where nothing
 * mapped can do that, or where the function itself proves it harmless.
 */
#ifndef PROFTRACE_PLAN_EXITS_H
#define PROFTRACE_PLAN_EXITS_H

#include <stdbool.h>

#include "plan/deny.h"
#include "symbol/traits.h"

struct code;
struct plan;
struct plan_function;

enum exit_strategy {
	EXIT_RETURN, /* the kernel's return probe: cheap, changes the return address */
	EXIT_SITES,  /* a probe on every ret and jump out: changes nothing */
	EXIT_NONE,   /* inferred from the stack pointer at the thread's next event */
	EXIT_STRATEGIES,
};

const char *exit_strategy__name(enum exit_strategy s);

/* At which instructions a function's leave is seen: "return" by a return probe, "entry" at its
 * entry, as it returns at once, "early" at branches before each `ret`, "emulated" at each `ret`,
 * which our program emulates, "ret" at some `ret` that is stepped, "jump" at jumps out alone,
 * "next" at the thread's next event. */
const char *exits__kind(const struct plan *p, const struct plan_function *f);

/* Traits that make return probes dangerous for whatever runs in the same process. */
#define EXIT_DEADLY_TRAITS (TRAIT_UNWINDS | TRAIT_SWITCHES | TRAIT_GO | TRAIT_INSPECTS)
/* And those that make it say something else than it would untraced. */
#define EXIT_UNSAFE_TRAITS (EXIT_DEADLY_TRAITS | TRAIT_SHOWS)

/* Facts about all code that may run together with the function. */
struct exit_context {
	unsigned traits;    /* TRAIT_* of everything the processes map, libc apart */
	bool no_returns;    /* return probes are switched off */
	const char *reason; /* for the exits that follow from `traits`; owned by the caller */
	const char
		*hazard; /* why this kernel's return probes are deadly there; NULL: they aren't */
	bool forced;	 /* --exits: `strategy` for all */
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
