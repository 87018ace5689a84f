/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a plan: wishes of the user, and abilities of the kernel. */
#ifndef PROFTRACE_PLAN_OPTIONS_H
#define PROFTRACE_PLAN_OPTIONS_H

#include <stdbool.h>

#include "code/code.h"

struct arguments;
struct line_specs;
struct plan;
struct usdt_patterns;

struct plan_options {
	enum call_nops call_nops;
	bool any_machine; /* files of other machines than this one are planned, too: to be listed */
	bool nop5_spared; /* set by the plan: as children that may be forked would die of them */
	bool calls_spared; /* set by the plan: as shadow stacks would miss what is emulated */
	bool returns_stop; /* return probes can be switched off at once (6.13): what is loaded
			      later cannot make them dangerous */
	/* A context was made (makecontext), or that would go unnoticed. */
	bool contexts_made;
	bool grows;	    /* planner__extend() will follow: files may be mapped later */
	bool attaches;	    /* probes will be put in: files are claimed for return probes */
	bool trace_events;  /* that will be trace events */
	bool new_programs;  /* other programs than today's are expected: links are for every
			       process */
	bool same_programs; /* but none of another name than those that run */
	bool anybody;	    /* they may be strangers' */
	bool children;	    /* so they may be for the sake of forked children */
	bool anywhere;	    /* -F NAME means the library that has it if the program has not */
	bool skip_tiny;	    /* leave out functions that are cheaper than their probe */
	/* Leaves without loops get no exit probe; see plan_function.closed_at_entry. Not where
	 * single calls, values or lines of them are wanted. */
	bool closes_leaves;
	bool early_exits; /* exits are seen before their `ret` where they can be */
	/* The kernel lets programs write registers, so they emulate `ret`s, and some instructions
	 * at entries; then exits are not seen early. The plan unsets it where there may be shadow
	 * stacks. */
	bool emulates;
	const char *exits; /* name of the exit strategy for all functions; NULL: automatic */
	struct arguments *arguments; /* values to read (-A); borrowed; NULL: none */
	struct usdt_patterns *usdt;  /* other programs' probes (--usdt); borrowed; NULL: none */
	/* Lines of source that are probed (--lines); borrowed; NULL: none. Functions with such
	 * lines are planned whatever the filter says. */
	struct line_specs *lines;
	/* Called once it is known what the files can do, before functions are planned, which takes
	 * longer, if that tells whether there are return probes; NULL: not at all. `traits`: as in
	 * struct plan later on; `returns`: some functions may get return probes. */
	void (*on_look)(const struct plan *p, unsigned traits, bool returns, void *ctx);
	void *ctx;
};

#endif
