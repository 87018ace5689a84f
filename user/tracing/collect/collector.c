// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables are looked at a few times a second: single calls are sent, ended call stacks reclaimed
 * (reclaim.c). What is shown is made from them when it is asked for: sums in usage.c, profiles in
 * snapshot.c.
 */
#include "collect/collector.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collector_inside.h"
#include "collect/distributions.h"
#include "collect/lines.h"
#include "tables/stack_copy.h"
#include "collect/reclaim.h"
#include "collect/usage.h"
#include "timeline/stream.h"
#include "util/log.h"
#include "util/search.h"

#define SEEN_AGAIN 4096 /* places that a poll looks at once more */

int collector__new(const struct tracer_tables *info, uint32_t functions_cnt, struct collector **out)
{
	struct collector *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->ring.files = c->samples.files = &c->files;
	err = bpf_tables__map(&c->tables, info);
	if (!err) {
		c->functions_cnt = functions_cnt;
		c->seen = calloc(functions_cnt, sizeof(*c->seen));
		c->restored = calloc(functions_cnt, sizeof(*c->restored));
		c->reclaimed_usage = calloc(functions_cnt, sizeof(*c->reclaimed_usage));
		c->entered = calloc(info->callstacks_cap, sizeof(*c->entered));
		err = c->seen && c->restored && c->reclaimed_usage && c->entered
			      ? stack_copy__scratch(&c->tables, &c->scratch)
			      : -ENOMEM;
		if (!err)
			err = usage__make_room(c, functions_cnt);
		if (!err && info->lines_cap) {
			c->reclaimed_lines = calloc(info->lines_cap, sizeof(*c->reclaimed_lines));
			err = c->reclaimed_lines ? 0 : -ENOMEM;
		}
		if (!err && info->callers_cap) {
			c->expansions.stacks =
				calloc(info->callers_cap, sizeof(*c->expansions.stacks));
			err = c->expansions.stacks ? 0 : -ENOMEM;
		}
		if (!err)
			err = sample_store__init(&c->samples, &c->tables);
		if (!err)
			err = seeds__init(&c->seeds, &c->tables);
		if (!err)
			err = wait_store__init(&c->waits, &c->tables);
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
	for (size_t i = 0; i < c->reclaimed_cnt; i++)
		free(c->reclaimed[i]);
	free(c->reclaimed);
	free(c->seen);
	free(c->restored);
	free(c->used);
	free(c->is_used);
	free(c->probes);
	free(c->estimates);
	free(c->reclaimed_usage);
	free(c->entered);
	free(c->inclusive);
	free(c->reclaimed_lines);
	free(c->scratch);
	expand__free(&c->expansions, &c->tables);
	sample_store__fini(&c->samples);
	seeds__fini(&c->seeds);
	wait_store__fini(&c->waits);
	drain__fini(&c->drain);
	file_names__fini(&c->files);
	bpf_tables__unmap(&c->tables);
	free(c);
}

int collector__grow(struct collector *c, uint32_t functions_cnt)
{
	uint32_t more = functions_cnt - c->functions_cnt;
	struct function_usage *usage;
	bool *seen, *restored;

	if (functions_cnt <= c->functions_cnt)
		return 0;
	seen = reallocarray(c->seen, functions_cnt, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	c->seen = seen;
	restored = reallocarray(c->restored, functions_cnt, sizeof(*restored));
	if (!restored)
		return -ENOMEM;
	c->restored = restored;
	usage = reallocarray(c->reclaimed_usage, functions_cnt, sizeof(*usage));
	if (!usage)
		return -ENOMEM;
	c->reclaimed_usage = usage;
	if (usage__make_room(c, functions_cnt))
		return -ENOMEM;
	memset(seen + c->functions_cnt, 0, more * sizeof(*seen));
	memset(restored + c->functions_cnt, 0, more * sizeof(*restored));
	memset(usage + c->functions_cnt, 0, more * sizeof(*usage));
	c->functions_cnt = functions_cnt;
	return 0;
}

void collector__resolve_callers(struct collector *c, collector_resolver *resolve, void *ctx)
{
	c->expansions.resolve = resolve;
	c->expansions.ctx = ctx;
	c->samples.resolve = resolve;
	c->samples.ctx = ctx;
}

void collector__look_for_inlined(struct collector *c, collector_inlined *inlined,
				 collector_met *met)
{
	c->samples.met = met;
	c->samples.inlined = inlined;
	c->seeds.inlined = &c->samples;
}

void collector__keep_paths(struct collector *c)
{
	c->seeds.keep_paths = true;
}

void collector__set_sample_period(struct collector *c, uint64_t ns, bool bare)
{
	c->samples.bare = bare;
	sample_store__set_period(&c->samples, &c->tables, ns);
}

struct samples_so_far collector__samples(const struct collector *c)
{
	return sample_store__so_far(&c->samples, &c->tables);
}

uint64_t collector__waits(const struct collector *c)
{
	return wait_store__taken(&c->tables);
}

void collector__weigh_samples(struct collector *c, uint64_t cpu_ns)
{
	sample_store__weigh(&c->samples, &c->tables, cpu_ns);
}

uint64_t collector__weighed_ns(const struct collector *c)
{
	return c->samples.cpu_ns;
}

int collector__last_samples(struct collector *c)
{
	int err = sample_store__settle(&c->samples, &c->tables);

	if (err)
		log_error("cannot keep samples: %s", strerror(-err));
	return err;
}

void collector__end_waits(struct collector *c, uint64_t at_ns)
{
	wait_store__end(&c->tables, at_ns);
}

void collector__set_costs(struct collector *c, const struct probe_costs *costs, bool raw)
{
	c->costs = *costs;
	c->raw = raw;
}

void collector__reset(struct collector *c)
{
	uint32_t callstacks = bpf_tables__callstacks(&c->tables);

	for (uint32_t i = 1; i < callstacks; i++) {
		if (c->tables.callstacks[i].state == WIRE_CALLSTACK_READY)
			reclaim__release(c, i);
	}
	bpf_tables__clear_counts(&c->tables);
	wait_store__clear(&c->waits, &c->tables);
	ring_reader__skip(&c->ring, &c->tables);
	collector__forget_retired(c);
	c->forgotten = (struct profile_accounting){0};
	c->reclaimed_calls = 0;
	c->scaled = false;
	memset(c->entered, 0, c->tables.info.callstacks_cap * sizeof(*c->entered));
	memset(c->reclaimed_usage, 0, c->functions_cnt * sizeof(*c->reclaimed_usage));
	memset(c->seen, 0, c->functions_cnt * sizeof(*c->seen));
	memset(c->restored, 0, c->functions_cnt * sizeof(*c->restored));
	c->seen_cnt = 0;
	memset(c->is_used, 0, c->used_cap * sizeof(*c->is_used));
	c->used_cnt = 0;
}

int collector__set_probes(struct collector *c, const struct function_probes *probes, uint32_t cnt)
{
	struct function_probes *copy = reallocarray(c->probes, cnt + 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, probes, cnt * sizeof(*copy));
	c->probes = copy;
	c->probes_cnt = cnt;
	for (uint32_t f = 0; f < cnt && f < c->tables.info.function_modes_cap; f++)
		c->tables.function_modes[f].entry_size = probes[f].entry_size;
	for (uint32_t f = 0; f < cnt; f++)
		collector__set_emulation(c, f, &probes[f].emulation);
	return 0;
}

void collector__set_emulation(struct collector *c, uint32_t function,
			      const struct wire_emulation *e)
{
	if (c->tables.emulations && function < c->tables.info.function_modes_cap)
		c->tables.emulations[function] = *e;
}

void collector__burst_calls(const struct collector *c, burst_calls_fn *tell, void *ctx)
{
	usage__burst_calls(c, tell, ctx);
}

int collector__set_estimates(struct collector *c, const struct calls_estimate *estimates,
			     uint32_t cnt)
{
	struct calls_estimate *copy = reallocarray(c->estimates, cnt + 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, estimates, cnt * sizeof(*copy));
	c->estimates = copy;
	c->estimates_cnt = cnt;
	return 0;
}

bool collector__drop(struct collector *c, uint32_t function, uint32_t every)
{
	if (function >= c->tables.info.function_modes_cap)
		return false;
	c->scaled |= every > 1;
	usage__note(c, function);
	__atomic_store_n(c->tables.info.switches_set, true, __ATOMIC_RELEASE);
	__atomic_store_n(&c->tables.function_modes[function].every, every, __ATOMIC_RELEASE);
	return true;
}

/* Threads forget that a hit of one of these functions was another probe's business: they may have
 * hit nothing since, and remember a generation that has come again meanwhile. */
static void forget_hits(struct collector *c, const uint32_t *functions, size_t cnt)
{
	uint32_t callstacks = bpf_tables__callstacks(&c->tables);

	for (uint32_t i = 1; i < callstacks; i++) {
		uint32_t *function = &c->tables.callstacks[i].hit_function;
		uint32_t hit = __atomic_load_n(function, __ATOMIC_RELAXED);

		for (size_t k = 0; k < cnt; k++) {
			/* The thread may be noting another one right now: that stays. */
			if (functions[k] == hit)
				__atomic_compare_exchange_n(function, &hit, UINT32_MAX, false,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		}
	}
}

void collector__forget_hits(struct collector *c)
{
	uint32_t callstacks = bpf_tables__callstacks(&c->tables);

	for (uint32_t i = 1; i < callstacks; i++)
		__atomic_store_n(&c->tables.callstacks[i].hit_function, UINT32_MAX,
				 __ATOMIC_RELAXED);
}

void collector__restore(struct collector *c, const uint32_t *functions, size_t cnt)
{
	forget_hits(c, functions, cnt);
	for (size_t i = 0; i < cnt; i++) {
		uint32_t function = functions[i];

		if (function >= c->tables.info.function_modes_cap || function >= c->functions_cnt)
			continue;
		c->restored[function] = true;
		usage__note(c, function);
		__atomic_store_n(&c->tables.function_modes[function].every, 0, __ATOMIC_RELEASE);
	}
}

bool collector__add_role(struct collector *c, uint32_t function, uint32_t role)
{
	if (function >= c->tables.info.function_modes_cap)
		return false;
	if (role != WIRE_ROLE_WHOLE)
		__atomic_store_n(c->tables.info.switches_set, true, __ATOMIC_RELEASE);
	__atomic_or_fetch(&c->tables.function_modes[function].role, role, __ATOMIC_RELEASE);
	return true;
}

bool collector__bounds(const struct collector *c, uint32_t function)
{
	return function < c->tables.info.function_modes_cap &&
	       (c->tables.function_modes[function].role & ~WIRE_ROLE_WHOLE);
}

static void note_function(struct collector *c, uint32_t node)
{
	const struct wire_node *n = &c->tables.nodes[node];

	if (c->tables.node_rests[node].callstack && n->parent && n->function < c->functions_cnt &&
	    !c->seen[n->function]) {
		c->seen[n->function] = true;
		c->seen_cnt++;
	}
}

/* Looks at the paths whose places were never used before, and at some of the others: those of
 * ended threads are used again. */
static void note_functions(struct collector *c)
{
	uint32_t nodes = bpf_tables__nodes(&c->tables);

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

void collector__name_variables(struct collector *c, variable_namer *name, void *ctx)
{
	c->ring.name = name;
	c->ring.ctx = ctx;
}

const char *collector__file(struct collector *c, uint32_t number)
{
	return file_names__at(&c->files, &c->tables, number);
}

uint64_t collector__files_missing(const struct collector *c)
{
	return file_names__missing(&c->tables);
}

/* Waits first: that is while the call stacks and paths that they name are there. */
static int drain_all(struct collector *c)
{
	uint32_t callstacks = bpf_tables__callstacks(&c->tables);
	int err = c->streams ? ring_reader__poll(&c->ring, &c->tables, &c->drain) : 0;

	for (uint32_t i = 1; !err && c->streams && i < callstacks; i++) {
		if (c->tables.callstacks[i].state == WIRE_CALLSTACK_READY)
			err = drain__callstack(&c->drain, i);
	}
	return err;
}

int collector__last_calls(struct collector *c, uint64_t end_ns)
{
	uint32_t callstacks = bpf_tables__callstacks(&c->tables);
	int err = c->streams ? ring_reader__poll(&c->ring, &c->tables, &c->drain) : 0;

	for (uint32_t i = 1; !err && c->streams && i < callstacks; i++) {
		const struct wire_callstack *callstack = &c->tables.callstacks[i];

		if (callstack->state == WIRE_CALLSTACK_READY)
			err = drain__last(&c->drain, i,
					  bpf_tables__open_until(&c->tables, callstack, end_ns));
	}
	return err;
}

int collector__poll(struct collector *c)
{
	int err = drain_all(c);

	if (err)
		return err;
	err = sample_store__poll(&c->samples, &c->tables);
	if (!err)
		err = wait_store__poll(&c->waits, &c->samples, &c->tables);
	if (err) {
		log_error("cannot keep samples: %s", strerror(-err));
		return err;
	}
	note_functions(c);
	return reclaim__when_short(c);
}

static int told_of_names(int err)
{
	if (err)
		log_error("cannot name the places of waits: %s", strerror(-err));
	return err;
}

int collector__name_waits(struct collector *c)
{
	return told_of_names(wait_store__read(&c->waits, &c->samples, &c->tables, 0));
}

int collector__name_some_waits(struct collector *c)
{
	return told_of_names(wait_store__name_some(&c->waits, &c->samples, &c->tables));
}

void collector__end_gone(struct collector *c, uint64_t now_ns)
{
	bpf_tables__end_gone(&c->tables, now_ns);
}

int collector__distributions(const struct collector *c, struct profile *p)
{
	return distributions__read(&c->tables, c->functions_cnt, p);
}

uint64_t collector__calls(const struct collector *c)
{
	uint32_t callstacks = bpf_tables__callstacks(&c->tables);
	uint64_t calls = c->reclaimed_calls;

	for (uint32_t i = 1; i < callstacks; i++)
		calls += c->tables.callstacks[i].entered;
	return calls;
}

uint32_t collector__functions(const struct collector *c)
{
	return c->seen_cnt;
}

size_t collector__processes(const struct collector *c, pid_t *pids, size_t cap)
{
	uint32_t callstacks = bpf_tables__callstacks(&c->tables);
	size_t cnt = 0;

	for (uint32_t i = 1; i < callstacks && cnt < cap; i++) {
		const struct wire_callstack *callstack = &c->tables.callstacks[i];
		pid_t pid = callstack->owner >> 32;

		/* Threads of a process mostly stand side by side; but those of several may take
		 * turns, thousands of times. */
		if (callstack->state == WIRE_CALLSTACK_READY && !callstack->exit_ns &&
		    (!cnt || pids[cnt - 1] != pid))
			pids[cnt++] = pid;
		if (cnt == cap)
			cnt = sort_pids_once(pids, cnt);
	}
	return sort_pids_once(pids, cnt);
}

int collector__usage(struct collector *c, struct function_usage *usage, uint32_t cnt)
{
	return usage__functions(c, usage, cnt);
}

int collector__usage_of_used(struct collector *c, struct function_usage *usage, uint32_t cnt,
			     const uint32_t **used, uint32_t *used_cnt)
{
	int err = usage__of_used(c, usage, cnt);

	*used = c->used;
	*used_cnt = c->used_cnt;
	return err;
}

int collector__lines(struct collector *c, uint64_t now_ns, struct line_usage *usage, uint32_t cnt)
{
	return usage__lines(c, now_ns, usage, cnt);
}

uint64_t collector__passed(const struct collector *c, uint32_t function)
{
	return usage__passed(c, function);
}

uint64_t collector__strays(const struct collector *c)
{
	return usage__all_strays(c);
}

uint64_t collector__surveyed(const struct collector *c, uint32_t function)
{
	return usage__surveyed(c, function);
}

void collector__forget_retired(struct collector *c)
{
	reclaim__forget(c);
}
