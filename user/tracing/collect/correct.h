/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the probes' cost out of measured times. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_CORRECT_H
#define PROFTRACE_COLLECT_CORRECT_H

#include <stdbool.h>

#include <stdint.h>

struct call_stats;
struct function_probes;
struct stack_copy;
struct stack_copy_node;
struct probe_costs;

/* How much dearer than in calibration probes are, by how long timed parts have taken. */
double correct__factor(const struct probe_costs *costs, uint64_t timed_ns, uint64_t expected_ns);

/* The sum, and 0 if it is less. */
uint64_t correct__added(uint64_t ns, double more);

/* Raises the nodes' probe_ns where entries took longer than in calibration, as they do with caches
 * that hold other things. Once for a part. */
void correct__stack_copy(struct stack_copy *copy, const struct probe_costs *costs);

/* Gives what calls in bursts seem to have waited, but whose leave no probe sees there, to their
 * callers: nobody knows that they had not left. Once for a part. */
void correct__unseen(struct stack_copy *copy, const struct function_probes *probes, uint32_t cnt);

/* The node's own times: as measured and, unless `raw`, without what the probes have cost, which is
 * uncertain by the share `error` of it. Inclusive times are set to its own. */
void correct__node(const struct stack_copy_node *n, double error, bool raw, struct call_stats *out);

#endif
