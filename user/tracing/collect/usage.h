/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of functions and lines so far, over all call stacks, without a profile. Inside
 * collect/ only. */
#ifndef PROFTRACE_COLLECT_USAGE_H
#define PROFTRACE_COLLECT_USAGE_H

#include <stdint.h>

#include "collect/figures.h"

struct collector;
struct function_usage;
struct line_usage;
struct stack_copy;

/* See collector__surveyed(), collector__passed(), collector__usage() and collector__lines(). */
void usage__burst_calls(const struct collector *c, burst_calls_fn *tell, void *ctx);
uint64_t usage__surveyed(const struct collector *c, uint32_t function);
uint64_t usage__passed(const struct collector *c, uint32_t function);
uint64_t usage__all_strays(const struct collector *c);
int usage__functions(struct collector *c, struct function_usage *usage, uint32_t cnt);
int usage__of_used(struct collector *c, struct function_usage *usage, uint32_t cnt);
int usage__lines(struct collector *c, uint64_t now_ns, struct line_usage *usage, uint32_t cnt);

/* Makes room for so many functions in the list of used ones. Returns 0 or -ENOMEM. */
int usage__make_room(struct collector *c, uint32_t functions_cnt);
/* A function may have been called or passed over from now on. */
void usage__note(struct collector *c, uint32_t function);

/* Adds what an ended call stack has done. Before its part is corrected: usage is as measured.
 * Returns 0 or -ENOMEM. */
int usage__add_reclaimed(struct collector *c, const struct stack_copy *copy);

#endif
