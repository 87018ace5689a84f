/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of callers (--callers), and what was open below outermost calls (bpf/seeds.bpf.h), become
 * paths. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_EXPAND_H
#define PROFTRACE_COLLECT_EXPAND_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/figures.h"

struct stack_copy;
struct profile_accounting;
struct bpf_tables;
struct function_probes;

/* Functions of the stacks that have been met, by the number of the stack. */
struct expansions {
	struct expansion {
		bool resolved;
		uint32_t cnt;
		uint32_t *functions; /* innermost first */
	} * stacks;
	collector_resolver *resolve;
	void *ctx;
};

/*
 * *out = the part with a node for each caller in place of those that stand for stacks; paths that
 * are the same then are one, also those of bursts and of calls before. Adds how stacks have ended,
 * by call, to the accounts. The caller frees it. Returns 0, -ENOMEM, or what the resolver returned.
 */
int expand__stack_copy(struct expansions *e, const struct bpf_tables *t,
		       const struct stack_copy *copy, struct profile_accounting *a,
		       struct stack_copy **out);
void expand__free(struct expansions *e, const struct bpf_tables *t);

/* Which frames of each seed are shown. */
struct seeds {
	struct seed_shown {
		uint32_t lives; /* of the seed that this is said of */
		uint32_t first; /* as in struct wire_seed */
	} * shown;		/* by seed; NULL: none are kept */
	/* Later profiles are to have the paths of earlier ones, though less is known to have stayed
	 * then. */
	bool keep_paths;
};

int seeds__init(struct seeds *s, const struct bpf_tables *t); /* 0 or -ENOMEM */
void seeds__fini(struct seeds *s);

/*
 * Replaces the copy, if it has paths below seeds: with those of the frames that all its call
 * stack's outermost calls have been below, and of what was open inside of these when tracing began:
 * functions that have probes (`probes`, by function, `cnt` of them), as their later calls are
 * recorded. Returns 0, -ENOMEM, or what the resolver of `e` returned.
 */
int seeds__expand(struct seeds *s, const struct expansions *e, const struct bpf_tables *t,
		  const struct function_probes *probes, uint32_t cnt, struct stack_copy **copy);

#endif
