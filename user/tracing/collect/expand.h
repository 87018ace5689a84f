/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of callers (--callers) become paths. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_EXPAND_H
#define PROFTRACE_COLLECT_EXPAND_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/figures.h"

struct stack_copy;
struct profile_accounting;
struct bpf_tables;

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

#endif
