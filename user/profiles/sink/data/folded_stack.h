/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The left part of a line of folded stacks: "comm;main;work". The format knows no escapes: names
 * are made harmless. */
#ifndef PROFTRACE_SINK_DATA_FOLDED_STACK_H
#define PROFTRACE_SINK_DATA_FOLDED_STACK_H

#include <stddef.h>

struct profile_thread;
struct sink_options;

/* The line up to the current frame. Zero to begin with. */
struct folded_stack {
	char *path;
	size_t len, cap;
	size_t *ends; /* ends[i]: length of the path with i frames below the root */
	size_t ends_len, ends_cap;
};

/* Leaves the root alone: the thread's name, with its numbers if the options ask for these. Returns
 * 0 or -ENOMEM. */
int folded_stack__begin(struct folded_stack *s, const struct profile_thread *t,
			const struct sink_options *opts);

/* Adds a frame of that name, which may be NULL. Returns 0 or -ENOMEM. */
int folded_stack__push(struct folded_stack *s, const char *name);
void folded_stack__pop(struct folded_stack *s);

void folded_stack__clear(struct folded_stack *s);

#endif
