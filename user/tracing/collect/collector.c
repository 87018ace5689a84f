// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables are looked at a few times a second: single calls are sent, ended lanes retired
 * (retire.c). What is shown is made from them when it is asked for: sums in usage.c, profiles in
 * snapshot.c.
 */
#include "collect/collector.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collector_inside.h"
#include "collect/lines.h"
#include "collect/part.h"
#include "collect/retire.h"
#include "collect/usage.h"
#include "timeline/stream.h"

#define SEEN_AGAIN 4096 /* places that a poll looks at once more */

int collector__new(const struct tracer_tables *info, uint32_t functions_cnt, struct collector **out)
{
	struct collector *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	err = tables__map(&c->tables, info);
	if (!err) {
		c->functions_cnt = functions_cnt;
		c->seen = calloc(functions_cnt, sizeof(*c->seen));
		c->retired_usage = calloc(functions_cnt, sizeof(*c->retired_usage));
		c->entered = calloc(info->lanes_cap, sizeof(*c->entered));
		err = c->seen && c->retired_usage && c->entered
			      ? part__scratch(&c->tables, &c->scratch)
			      : -ENOMEM;
		if (!err && info->lines_cap) {
			c->retired_lines = calloc(info->lines_cap, sizeof(*c->retired_lines));
			err = c->retired_lines ? 0 : -ENOMEM;
		}
		if (!err && info->callers_cap) {
			c->expansions.stacks =
				calloc(info->callers_cap, sizeof(*c->expansions.stacks));
			err = c->expansions.stacks ? 0 : -ENOMEM;
		}
		if (!err)
			err = drain__init(&c->drain, &c->tables);
	}
	if (err) {
		collector__free(c);
		return err;
	}
	*out = c;
	return 0;
}

void collector__free(struct collector *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->retired_cnt; i++)
		free(c->retired[i]);
	free(c->retired);
	free(c->seen);
	free(c->probes);
	free(c->retired_usage);
	free(c->entered);
	free(c->inclusive);
	free(c->retired_lines);
	free(c->scratch);
	expand__free(&c->expansions, &c->tables);
	drain__fini(&c->drain);
	tables__unmap(&c->tables);
	free(c);
}

int collector__grow(struct collector *c, uint32_t functions_cnt)
{
	uint32_t more = functions_cnt - c->functions_cnt;
	struct function_usage *usage;
	bool *seen;

	if (functions_cnt <= c->functions_cnt)
		return 0;
	seen = reallocarray(c->seen, functions_cnt, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	c->seen = seen;
	usage = reallocarray(c->retired_usage, functions_cnt, sizeof(*usage));
	if (!usage)
		return -ENOMEM;
	c->retired_usage = usage;
	memset(seen + c->functions_cnt, 0, more * sizeof(*seen));
	memset(usage + c->functions_cnt, 0, more * sizeof(*usage));
	c->functions_cnt = functions_cnt;
	return 0;
}

void collector__resolve_callers(struct collector *c, collector_resolver *resolve, void *ctx)
{
	c->expansions.resolve = resolve;
	c->expansions.ctx = ctx;
}

void collector__set_costs(struct collector *c, const struct probe_costs *costs, bool raw)
{
	c->costs = *costs;
	c->raw = raw;
}

void collector__reset(struct collector *c)
{
	uint32_t lanes = tables__lanes(&c->tables);

	for (uint32_t i = 1; i < lanes; i++) {
		if (c->tables.lanes[i].state == WIRE_LANE_READY)
			retire__release(c, i);
	}
	tables__clear_counts(&c->tables);
	collector__forget_retired(c);
	c->forgotten = (struct profile_accounting){0};
	c->retired_calls = 0;
	c->scaled = false;
	memset(c->entered, 0, c->tables.info.lanes_cap * sizeof(*c->entered));
	memset(c->retired_usage, 0, c->functions_cnt * sizeof(*c->retired_usage));
	memset(c->seen, 0, c->functions_cnt * sizeof(*c->seen));
	c->seen_cnt = 0;
}

int collector__set_probes(struct collector *c, const struct function_probes *probes, uint32_t cnt)
{
	struct function_probes *copy = reallocarray(c->probes, cnt + 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, probes, cnt * sizeof(*copy));
	c->probes = copy;
	c->probes_cnt = cnt;
	return 0;
}

bool collector__drop(struct collector *c, uint32_t function, uint32_t every)
{
	if (function >= c->tables.info.switches_cap)
		return false;
	c->scaled |= every > 1;
	__atomic_store_n(c->tables.info.switches_set, true, __ATOMIC_RELEASE);
	__atomic_store_n(&c->tables.switches[function].every, every, __ATOMIC_RELEASE);
	return true;
}

bool collector__add_role(struct collector *c, uint32_t function, uint32_t role)
{
	if (function >= c->tables.info.switches_cap)
		return false;
	__atomic_store_n(c->tables.info.switches_set, true, __ATOMIC_RELEASE);
	__atomic_or_fetch(&c->tables.switches[function].role, role, __ATOMIC_RELEASE);
	return true;
}

bool collector__has_role(const struct collector *c, uint32_t function)
{
	return function < c->tables.info.switches_cap && c->tables.switches[function].role;
}

static void note_function(struct collector *c, uint32_t node)
{
	const struct wire_node *n = &c->tables.nodes[node];

	if (c->tables.node_rests[node].lane && n->parent && n->function < c->functions_cnt &&
	    !c->seen[n->function]) {
		c->seen[n->function] = true;
		c->seen_cnt++;
	}
}

/* Looks at the paths whose places were never used before, and at some of the others: those of
 * ended threads are used again. */
static void note_functions(struct collector *c)
{
	uint32_t nodes = tables__nodes(&c->tables);

	for (; c->seen_nodes < nodes; c->seen_nodes++)
		note_function(c, c->seen_nodes);
	for (uint32_t i = 0; i < nodes && i < SEEN_AGAIN; i++)
		note_function(c, c->seen_again++ % nodes);
}

void collector__stream(struct collector *c, const struct call_stream *stream, uint64_t start_ns)
{
	c->drain.stream = *stream;
	c->drain.start_ns = start_ns;
	c->streams = c->drain.tables;
}

static int drain_all(struct collector *c)
{
	uint32_t lanes = tables__lanes(&c->tables);
	int err = 0;

	for (uint32_t i = 1; !err && c->streams && i < lanes; i++) {
		if (c->tables.lanes[i].state == WIRE_LANE_READY)
			err = drain__lane(&c->drain, i);
	}
	return err;
}

int collector__last_calls(struct collector *c, uint64_t end_ns)
{
	uint32_t lanes = tables__lanes(&c->tables);
	int err = 0;

	for (uint32_t i = 1; !err && c->streams && i < lanes; i++) {
		const struct wire_lane *lane = &c->tables.lanes[i];

		if (lane->state == WIRE_LANE_READY)
			err = drain__last(&c->drain, i,
					  tables__ended_ns(&c->tables, lane) ?: end_ns);
	}
	return err;
}

int collector__poll(struct collector *c)
{
	int err = drain_all(c);

	if (err)
		return err;
	note_functions(c);
	return retire__when_short(c);
}

void collector__end_gone(struct collector *c, uint64_t now_ns)
{
	tables__end_gone(&c->tables, now_ns);
}

uint64_t collector__calls(const struct collector *c)
{
	uint32_t lanes = tables__lanes(&c->tables);
	uint64_t calls = c->retired_calls;

	for (uint32_t i = 1; i < lanes; i++)
		calls += c->tables.lanes[i].entered;
	return calls;
}

uint32_t collector__functions(const struct collector *c)
{
	return c->seen_cnt;
}

static int compare_pids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

size_t collector__processes(const struct collector *c, pid_t *pids, size_t cap)
{
	uint32_t lanes = tables__lanes(&c->tables);
	size_t cnt = 0, different = 0;

	for (uint32_t i = 1; i < lanes && cnt < cap; i++) {
		const struct wire_lane *lane = &c->tables.lanes[i];
		pid_t pid = lane->owner >> 32;

		/* Threads of a process mostly stand side by side. */
		if (lane->state == WIRE_LANE_READY && !lane->exit_ns &&
		    (!cnt || pids[cnt - 1] != pid))
			pids[cnt++] = pid;
	}
	qsort(pids, cnt, sizeof(*pids), compare_pids);
	for (size_t i = 0; i < cnt; i++) {
		if (!different || pids[different - 1] != pids[i])
			pids[different++] = pids[i];
	}
	return different;
}

int collector__usage(struct collector *c, struct function_usage *usage, uint32_t cnt)
{
	return usage__functions(c, usage, cnt);
}

int collector__lines(struct collector *c, uint64_t now_ns, struct line_usage *usage, uint32_t cnt)
{
	return usage__lines(c, now_ns, usage, cnt);
}

uint64_t collector__passed(const struct collector *c, uint32_t function)
{
	return usage__passed(c, function);
}

uint64_t collector__surveyed(const struct collector *c, uint32_t function)
{
	return usage__surveyed(c, function);
}

void collector__forget_survey(struct collector *c)
{
	tables__clear_passed(&c->tables);
}

void collector__forget_retired(struct collector *c)
{
	retire__forget(c);
}
