// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/usage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collector_inside.h"
#include "collect/correct.h"
#include "collect/lines.h"
#include "tables/stack_copy.h"
#include "util/array.h"

uint64_t usage__surveyed(const struct collector *c, uint32_t function)
{
	const struct bpf_tables *t = &c->tables;
	uint64_t calls = 0;

	for (uint32_t i = 0;
	     t->counted && function < t->info.function_modes_cap && i < t->info.passed_shares; i++)
		calls += __atomic_load_n(
			&t->counted[(size_t)i * t->info.function_modes_cap + function],
			__ATOMIC_RELAXED);
	return calls;
}

uint64_t usage__passed(const struct collector *c, uint32_t function)
{
	const struct bpf_tables *t = &c->tables;
	uint64_t passed = 0;
	uint32_t every;

	every = function < t->info.function_modes_cap ? t->function_modes[function].every : 0;
	if (!every && !(function < c->functions_cnt && c->restored[function]))
		return 0;
	for (uint32_t i = 0; i < t->info.passed_shares; i++) {
		uint64_t seen = t->passed[(size_t)i * t->info.function_modes_cap + function];
		uint64_t phase = WIRE_PHASE(i, t->info.passed_shares, every);

		passed += seen;
		if (every > 1) /* without those that were kept */
			passed -= (seen + phase + every - 1) / every - (phase + every - 1) / every;
	}
	return passed;
}

/* Hits of a function's exits in no call of it. */
static uint64_t strays_of(const struct collector *c, uint32_t function)
{
	const struct bpf_tables *t = &c->tables;
	uint64_t strays = 0;

	for (uint32_t i = 0; function < t->info.function_modes_cap && i < t->info.passed_shares;
	     i++)
		strays += __atomic_load_n(
			&t->strays[(size_t)i * t->info.function_modes_cap + function],
			__ATOMIC_RELAXED);
	return strays;
}

uint64_t usage__all_strays(const struct collector *c)
{
	const struct bpf_tables *t = &c->tables;
	uint32_t cap = t->info.function_modes_cap;
	uint64_t strays = 0;

	/* Share by share, as they lie: with many CPUs that is megabytes at each look. */
	for (uint32_t i = 0; i < t->info.passed_shares; i++) {
		for (uint32_t f = 0; f < c->functions_cnt && f < cap; f++)
			strays +=
				__atomic_load_n(&t->strays[(size_t)i * cap + f], __ATOMIC_RELAXED);
	}
	return strays;
}

/* Adds a path's figures to its function's. `n` points to BPF's node or to one of a part: they have
 * nothing but these members' names in common. */
#define USAGE_ADD(u, n, inclusive_ns, waited_ns)      \
	({                                            \
		(u)->calls += (n)->calls;             \
		(u)->self_ns += (n)->self_ns;         \
		(u)->off_ns += (waited_ns);           \
		(u)->probe_ns += (n)->probe_ns;       \
		(u)->total_ns += (inclusive_ns);      \
		(u)->timed_ns += (n)->timed_ns;       \
		(u)->expected_ns += (n)->expected_ns; \
	})

int usage__make_room(struct collector *c, uint32_t functions_cnt)
{
	uint32_t modes = c->tables.info.function_modes_cap;
	uint32_t cap = functions_cnt > modes ? functions_cnt : modes, *used;
	bool *is_used;

	if (cap <= c->used_cap)
		return 0;
	used = reallocarray(c->used, cap, sizeof(*used));
	if (!used)
		return -ENOMEM;
	c->used = used;
	is_used = reallocarray(c->is_used, cap, sizeof(*is_used));
	if (!is_used)
		return -ENOMEM;
	c->is_used = is_used;
	memset(is_used + c->used_cap, 0, (cap - c->used_cap) * sizeof(*is_used));
	c->used_cap = cap;
	return 0;
}

void usage__note(struct collector *c, uint32_t function)
{
	if (function >= c->used_cap || c->is_used[function])
		return;
	c->is_used[function] = true;
	c->used[c->used_cnt++] = function;
}

/* Adds what the first paths of the tables, of all call stacks, have done; others are made
 * meanwhile. Paths are numbered in the order of their making, but for those that were used before;
 * so, from the last to the first, callees mostly come before their callers. It takes no more for a
 * guess at inclusive times. */
static void add_usage(struct collector *c, uint32_t nodes, struct function_usage *usage,
		      uint32_t cnt)
{
	uint64_t *inclusive = c->inclusive;

	for (uint32_t i = nodes; i-- > 1;) {
		const struct wire_node *n = &c->tables.nodes[i];
		uint32_t function = __atomic_load_n(&n->function, __ATOMIC_RELAXED);
		uint32_t parent = __atomic_load_n(&n->parent, __ATOMIC_RELAXED);
		uint64_t total;

		if (!c->tables.node_rests[i].callstack || !parent || function >= cnt)
			continue;
		if (!c->is_used[function]) {
			usage__note(c, function);
			usage[function] = (struct function_usage){0};
		}
		total = n->self_ns + inclusive[i];
		inclusive[i] = 0;
		if (parent < nodes)
			inclusive[parent] += total;
		USAGE_ADD(&usage[function], n, total, c->tables.node_rests[i].off_ns);
	}
}

int usage__of_used(struct collector *c, struct function_usage *usage, uint32_t cnt)
{
	uint32_t nodes = bpf_tables__nodes(&c->tables);
	const bool strays = usage__all_strays(c) > 0;

	if (ARRAY_RESERVE_MORE(&c->inclusive, 0, nodes, &c->inclusive_cap))
		return -ENOMEM;
	memset(c->inclusive, 0, nodes * sizeof(*c->inclusive));
	cnt = cnt < c->functions_cnt ? cnt : c->functions_cnt;
	for (uint32_t f = 0; strays && f < cnt; f++) {
		if (strays_of(c, f))
			usage__note(c, f);
	}
	for (uint32_t i = 0; i < c->used_cnt; i++) {
		if (c->used[i] < cnt)
			usage[c->used[i]] = c->reclaimed_usage[c->used[i]];
	}
	add_usage(c, nodes, usage, cnt);
	for (uint32_t i = 0; i < c->used_cnt; i++) {
		uint32_t f = c->used[i];

		if (f >= cnt)
			continue;
		usage[f].passed = usage__passed(c, f);
		usage[f].strays = strays ? strays_of(c, f) : 0;
		usage[f].factor =
			correct__factor(&c->costs, usage[f].timed_ns, usage[f].expected_ns);
	}
	return 0;
}

int usage__functions(struct collector *c, struct function_usage *usage, uint32_t cnt)
{
	const struct function_usage none = {.factor = correct__factor(&c->costs, 0, 0)};

	for (uint32_t f = 0; f < cnt; f++)
		usage[f] = none;
	return usage__of_used(c, usage, cnt);
}

void usage__burst_calls(const struct collector *c, burst_calls_fn *tell, void *ctx)
{
	const struct bpf_tables *t = &c->tables;

	for (uint32_t i = bpf_tables__nodes(t); i-- > 1;) {
		const struct wire_node *n = &t->nodes[i];
		const struct wire_callstack *callstack =
			bpf_tables__callstack(t, t->node_rests[i].callstack);

		if (callstack && n->function & WIRE_NODE_BURST)
			tell(n->function & ~WIRE_NODE_BURST, callstack->owner, n->calls, ctx);
	}
	for (size_t i = 0; i < c->reclaimed_cnt; i++) {
		const struct stack_copy *copy = c->reclaimed[i];
		uint64_t thread = (uint64_t)copy->pid << 32 | (uint32_t)copy->tid;

		for (uint32_t k = 0; k < copy->nodes_cnt; k++) {
			const struct stack_copy_node *n = &copy->nodes[k];

			if (n->function & WIRE_NODE_BURST)
				tell(n->function & ~WIRE_NODE_BURST, thread, n->calls, ctx);
		}
	}
}

/* Callees come behind their callers. */
int usage__add_reclaimed(struct collector *c, const struct stack_copy *copy)
{
	if (ARRAY_RESERVE_MORE(&c->inclusive, 0, copy->nodes_cnt, &c->inclusive_cap))
		return -ENOMEM;
	memset(c->inclusive, 0, copy->nodes_cnt * sizeof(*c->inclusive));
	for (uint32_t i = copy->nodes_cnt; i-- > 0;) {
		const struct stack_copy_node *n = &copy->nodes[i];
		uint64_t total = n->self_ns + c->inclusive[i];
		struct function_usage *u;

		if (n->parent < i)
			c->inclusive[n->parent] += total;
		if (n->function >= c->functions_cnt)
			continue;
		usage__note(c, n->function);
		u = &c->reclaimed_usage[n->function];
		USAGE_ADD(u, n, total, n->off_ns);
	}
	return 0;
}

/* Sums up all sites of a line. Time that is less than its probes are thought to have cost is
 * none. */
static void set_line(const struct collector *c, const struct line_sum *s, struct line_usage *u)
{
	uint64_t probe_ns = c->raw || (int64_t)s->probe_ns < 0 ? 0 : s->probe_ns;

	u->hits = s->hits;
	u->ns = s->ns > probe_ns ? s->ns - probe_ns : 0;
	u->error_ns = (uint64_t)((double)probe_ns * c->costs.spread);
}

int usage__lines(struct collector *c, uint64_t now_ns, struct line_usage *usage, uint32_t cnt)
{
	const struct bpf_tables *t = &c->tables;
	uint32_t callstacks = bpf_tables__callstacks(t);
	struct line_sum *sums, *lines;

	memset(usage, 0, cnt * sizeof(*usage));
	if (!c->reclaimed_lines)
		return 0;
	sums = calloc((size_t)t->info.lines_cap + cnt, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	lines = sums + t->info.lines_cap;
	lines__read(t, sums);
	for (uint32_t i = 1; i < callstacks; i++) {
		if (t->callstacks[i].state == WIRE_CALLSTACK_READY)
			lines__add_open(t, &t->callstacks[i], now_ns, sums);
	}
	for (uint32_t i = 0; i < t->info.lines_cap; i++) {
		uint32_t line = t->line_sites[i].line, declared = t->line_sites[i].declared;

		if (!line || line > cnt)
			continue;
		if (declared && declared <= cnt)
			lines[declared - 1].hits += sums[i].hits;
		lines[line - 1].hits += sums[i].hits;
		lines[line - 1].ns += sums[i].ns + c->reclaimed_lines[i].ns;
		lines[line - 1].probe_ns += sums[i].probe_ns + c->reclaimed_lines[i].probe_ns;
	}
	for (uint32_t i = 0; i < cnt; i++)
		set_line(c, &lines[i], &usage[i]);
	free(sums);
	return 0;
}
