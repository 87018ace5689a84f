/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts what was open when tracing began (seeds) in place of the nodes that stand for it. Inside
 * collect/ only. */
#ifndef PROFTRACE_COLLECT_SEEDS_H
#define PROFTRACE_COLLECT_SEEDS_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_tables;
struct expansions;
struct function_probes;
struct sample_store;
struct stack_copy;

/* The frames of each seed that are shown. */
struct seeds {
	struct seed_shown {
		uint32_t lives; /* of the seed that this is said of */
		uint32_t first; /* as in struct wire_seed */
	} * shown;		/* by seed; NULL: none are kept */
	/* Later profiles are to have the paths of earlier ones, though less is known to have stayed
	 * then. */
	bool keep_paths;
	/* Knows what was inlined in their frames, as in those of samples; NULL: that is not looked
	 * for. */
	struct sample_store *inlined;
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
