/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan: which functions are probed, at which instruction, and how their leave is seen. It is
 * data; planner/planner.h makes it, from files alone and before anything is attached. -l prints it.
 */
#ifndef PROFTRACE_PLAN_PLAN_H
#define PROFTRACE_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/code.h"
#include "plan/exit_strategy.h"
#include "plan/hooks.h"
#include "symbol/go.h"
#include "symbol/instrumented.h"

enum plan_kind {
	PLAN_FUNCTION,
	PLAN_REGION, /* a stretch of code between two kinds of sites: see regions.h */
	PLAN_MARK,   /* a place in code that is passed */
	/* These have no probe: callers, which are known from stacks alone (callers.h), and system
	 * calls and their errors (--syscalls). */
	PLAN_CALLER,
	PLAN_SYSTEM_CALL,
	PLAN_INLINED, /* a function whose code stands in others' in place of calls of it */
};

struct plan_function {
	uint8_t kind;		    /* enum plan_kind */
	const char *symbol;	    /* raw; of a region its name */
	char *own;		    /* of a region the same, freed with the plan; else NULL */
	const char *const *aliases; /* other symbols at the same address */
	size_t aliases_cnt;
	uint32_t object;	/* index in the target's objects */
	uint64_t offset;	/* of the function in the file */
	uint64_t size;		/* of regions 0 */
	struct code_site entry; /* where its entry is probed */
	uint8_t instrumented;	/* enum instrumented_by */
	uint8_t exit;		/* enum exit_strategy */
	uint64_t semaphore;	/* that of a static probe at its site, as in plan_site */
	bool tail_jumps, loops_to_entry;
	bool works_in_phases; /* rests for long, and is called all the time then */
	uint8_t arguments;    /* number of the list of values that are read of its calls; 0: none */
	bool arguments_changed; /* some are wanted, but are not where they were where it is probed
				 */
	bool has_lines;		/* some of its lines are wanted: it is never dropped */
	uint8_t leaf_insns;	/* it is a tiny leaf of so many instructions; 0: it is none */
	/* The function's leave needs no probe, as it runs at most this many instructions and
	 * returns: the entry's probe counts the call and ends it. 0: it may take longer. */
	uint8_t closed_at_entry;
	bool patched; /* some of it is not in memory as it is in the file */
	/* Without a probe: it is in no file, but in the kernel, at the address `offset`, say: what
	 * that is called. NULL: it is in its object. */
	const char *outside;
	const char *reason; /* why this exit strategy */
	size_t exits;	    /* EXIT_SITES: first exit site in plan.exits */
	uint32_t exits_cnt;
	uint32_t symbol_index; /* in its object's table */
	/* Regions and marks: their sites in plan.sites, those that begin it first. `entry` has the
	 * class of the first one. */
	size_t sites;
	uint32_t begins_cnt, ends_cnt;
	bool ordered; /* region: its ends are told by their order, not by their place on the stack
		       */
};

/* A place where a region begins or ends, or that is a mark (PLAN_MARK). */
struct plan_site {
	uint64_t offset;       /* in the file */
	uint64_t semaphore;    /* file offset of the count of those who look; 0: none */
	const char *arguments; /* what the probe's note says of its values; "": nothing */
	const char *reason;    /* why this instruction */
	uint8_t site;	       /* enum site_class */
	/* The region's frame: bytes above the stack or frame pointer. */
	uint16_t up;
	bool by_frame_pointer;
	bool called;  /* it is in code of its own, which is called where the region begins or ends
		       */
	uint8_t list; /* number of the list of values that are read there; 0: none */
};

struct plan_exit {
	uint64_t offset; /* in the file */
	uint8_t kind;	 /* enum code_exit_kind */
	uint8_t cond;
	bool steps; /* costs a second trap, unless: */
	/* A `ret` that our program emulates, as the kernel lets it write registers. */
	bool emulated;
	/* See struct code_exit. */
	bool early, by_frame_pointer;
	uint16_t up;
	uint64_t target; /* where it jumps to, in the file; 0: nowhere, or it is not known */
	bool goes_on;	 /* that is a function whose calls are recorded: see tail_calls.h */
};

struct plan_skip {
	const char *symbol;
	char *own; /* as in plan_function */
	uint32_t object;
	const char *reason;
	/* A label, or the C runtime's: it is skipped whatever the program does. */
	bool expected;
};

/* Whether it has, or is to have, a probe. */
static inline bool plan_function__has_probe(const struct plan_function *f)
{
	return f->kind < PLAN_CALLER;
}

struct plan_lines;
struct plan_lookups;
struct plan_object; /* keeps symbols alive */
struct target_object;

struct plan {
	struct plan_function *functions; /* by object, then by address */
	size_t functions_cnt;
	struct plan_exit *exits;
	size_t exits_cnt;
	struct plan_site *sites;
	size_t sites_cnt, sites_cap;
	struct plan_skip *skipped;
	size_t skipped_cnt;
	struct plan_object *objects;
	size_t objects_cnt;
	struct plan_hook *hooks;
	size_t hooks_cnt;
	unsigned traits; /* of everything mapped: TRAIT_* */
	bool go;	 /* there is a Go program, and its goroutines can be told apart */
	struct go_layout go_layout; /* how; of the first, if there are more */
	struct plan_lines *lines;   /* NULL: none were asked for (--lines) */
	bool contexts_guarded;	    /* return probes rely on none being made */
	bool returns_replaced; /* return probes have become dangerous: no function relies on them */
	bool returns_spared;   /* there are none, and will be none: their program is not loaded */
	bool proven;	       /* some have them by proof */
	bool loads_unseen;     /* no hook tells of files that are mapped later */
	bool nop5_spared;      /* as plan_options has it */
	bool may_fork;	       /* what is mapped can make children */
	bool force_warned;     /* --exits=return was said to be dangerous */
	char why[512];	       /* the reason for the exits of all that is not special */
	struct plan_lookups *lookups; /* its contents may change where the plan is const */
};

#define PLAN_MAX_FUNCTIONS (1u << 24) /* what a probe's cookie can tell apart */

/* Whether the target's object `index` is a program without a dynamic linker, which would tell us of
 * its start. */
bool plan__is_static(const struct plan *p, uint32_t index);

/* The demangled name, or the symbol, by number: made at the first call, as most functions are never
 * shown; with INLINED_MARK (util/cxx_name.h) behind it if it is inlined. Owned by the plan. */
const char *plan__name(const struct plan *p, size_t function);
const char *plan__skip_name(const struct plan *p, size_t skipped);

/* At which instructions a function's leave is seen: "return" by a return probe, "entry" at its
 * entry, as it returns at once, "early" at branches before each `ret`, "emulated" at each `ret`,
 * which our program emulates, "ret" at some `ret` that is stepped, "jump" at jumps out alone,
 * "next" at the thread's next event. */
const char *plan__exit_kind(const struct plan *p, const struct plan_function *f);

/* Whether some exit of the function is stepped, which costs ten times as much as others. */
bool plan__exits_step(const struct plan *p, const struct plan_function *f);

/* Whether some functions have return probes. */
bool plan__uses_returns(const struct plan *p);

/* Whether links may be for every process that maps a file, for the sake of the target's children:
 * not if there will be none, or if a program that begins meanwhile may move its code, breakpoints
 * included. */
bool plan__may_share_links(const struct plan *p);

void plan__free(struct plan *p); /* accepts NULL */

#endif
