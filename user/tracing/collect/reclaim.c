// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/reclaim.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/collector_inside.h"
#include "collect/correct.h"
#include "collect/lines.h"
#include "tables/stack_copy.h"
#include "collect/usage.h"
#include "util/array.h"

void reclaim__release(struct collector *c, uint32_t callstack)
{
	if (c->drain.tables)
		drain__forget(&c->drain, callstack);
	sample_store__forget(&c->samples, callstack);
	bpf_tables__release_callstack(&c->tables, callstack);
}

static int retire(struct collector *c, uint32_t number)
{
	const struct wire_callstack *callstack = bpf_tables__callstack(&c->tables, number);
	struct stack_copy *copy;
	int err;

	if (ARRAY_RESERVE(&c->reclaimed, c->reclaimed_cnt, &c->reclaimed_cap))
		return -ENOMEM;
	err = c->streams
		      ? drain__last(&c->drain, number, bpf_tables__ended_ns(&c->tables, callstack))
		      : 0;
	if (!err)
		err = stack_copy__read(&c->tables, callstack, UINT64_MAX, c->scratch, &copy);
	if (err)
		return err;
	if (copy) {
		err = sample_store__put(&c->samples, &c->tables, number, c->scratch, &copy);
		if (!err)
			err = seeds__expand(&c->seeds, &c->expansions, &c->tables, c->probes,
					    c->probes_cnt, &copy);
		if (!err)
			err = usage__add_reclaimed(c, copy);
		if (err) {
			free(copy);
			return err;
		}
		correct__unseen(copy, c->probes, c->probes_cnt);
		correct__stack_copy(copy, &c->costs);
		c->reclaimed[c->reclaimed_cnt++] = copy;
	}
	if (c->reclaimed_lines)
		lines__add_open(&c->tables, callstack, UINT64_MAX, c->reclaimed_lines);
	c->reclaimed_calls += callstack->entered;
	reclaim__release(c, number);
	return 0;
}

static bool half_used(uint32_t used, uint32_t cap)
{
	return used > cap / 2;
}

/* Calls and spans that have begun on the call stack so far. */
static uint64_t begun_on(const struct bpf_tables *t, const struct wire_callstack *callstack,
			 bool *open)
{
	uint32_t guard = t->info.callstacks_cap;
	uint64_t entered = callstack->entered;

	*open = false;
	for (callstack = bpf_tables__callstack(t, callstack->spans); callstack && guard--;
	     callstack = bpf_tables__callstack(t, callstack->spans)) {
		entered += callstack->entered;
		*open |= callstack->top != callstack->bottom;
	}
	return entered;
}

/*
 * Coroutines and goroutines end without a word. Those that have called nothing since the last time
 * are taken for ended, if there are too many.
 */
static void end_idle(struct collector *c)
{
	uint32_t callstacks = bpf_tables__callstacks(&c->tables), live = 0;
	bool short_of_callstacks;

	for (uint32_t i = 1; i < callstacks; i++)
		live += c->tables.callstacks[i].state == WIRE_CALLSTACK_READY &&
			!c->tables.callstacks[i].exit_ns;
	short_of_callstacks = half_used(live, c->tables.info.callstacks_cap);
	for (uint32_t i = 1; i < callstacks; i++) {
		const struct wire_callstack *callstack = &c->tables.callstacks[i];
		bool open;
		uint64_t entered = begun_on(&c->tables, callstack, &open);

		if (short_of_callstacks && callstack->state == WIRE_CALLSTACK_READY &&
		    !callstack->exit_ns && !open &&
		    (callstack->kind == WIRE_CALLSTACK_COROUTINE ||
		     callstack->kind == WIRE_CALLSTACK_GOROUTINE) &&
		    entered == c->entered[i])
			bpf_tables__end_idle(&c->tables, i);
		c->entered[i] = entered;
	}
}

/* A number of a call stack keeps its seed, whoever has the number; the first ones have one each. */
static bool short_of_seeds(const struct bpf_tables *t, uint32_t callstacks)
{
	return t->info.seeds_cap && half_used(callstacks, t->info.seeds_cap / 2);
}

static bool is_short(const struct bpf_tables *t, uint32_t callstacks)
{
	return half_used(callstacks, t->info.callstacks_cap) || short_of_seeds(t, callstacks) ||
	       half_used(bpf_tables__nodes(t), t->info.nodes_cap) ||
	       half_used(bpf_tables__frames(t), t->info.frames_cap);
}

/* Sets ended[1 .. callstacks - 1]; returns whether any has. */
static bool find_ended(const struct bpf_tables *t, uint32_t callstacks, bool *ended)
{
	bool any = false;

	for (uint32_t i = 1; i < callstacks; i++) {
		ended[i] =
			t->callstacks[i].state == WIRE_CALLSTACK_READY && t->callstacks[i].exit_ns;
		any |= ended[i];
	}
	return any;
}

/* Whether it is of spans that are beside a call stack that has ended, whose end is theirs. */
static bool is_beside_ended(const struct bpf_tables *t, uint32_t number, uint32_t callstacks,
			    const bool *ended)
{
	const struct wire_callstack *callstack = bpf_tables__callstack(t, number);

	return callstack->state == WIRE_CALLSTACK_READY &&
	       callstack->kind == WIRE_CALLSTACK_SPANS && callstack->base < callstacks &&
	       ended[callstack->base];
}

/* Retires what has ended, spans before what they are beside. */
static int retire_ended(struct collector *c, uint32_t callstacks, const bool *ended)
{
	int err = 0;

	for (uint32_t i = 1; !err && i < callstacks; i++) {
		if (is_beside_ended(&c->tables, i, callstacks, ended))
			err = retire(c, i);
	}
	for (uint32_t i = 1; !err && i < callstacks; i++) {
		if (ended[i])
			err = retire(c, i);
	}
	return err;
}

int reclaim__when_short(struct collector *c)
{
	uint32_t callstacks = bpf_tables__callstacks(&c->tables);
	bool *ended;
	int err = 0;

	if (!is_short(&c->tables, callstacks))
		return 0;
	end_idle(c);
	ended = calloc(callstacks, sizeof(*ended));
	if (!ended)
		return -ENOMEM;
	if (find_ended(&c->tables, callstacks, ended)) {
		/* All samples of these, and not of threads that end while that is waited for. */
		err = sample_store__settle(&c->samples, &c->tables);
		if (!err)
			err = wait_store__read(&c->waits, &c->samples, &c->tables, 0);
		if (!err)
			err = retire_ended(c, callstacks, ended);
	}
	free(ended);
	return err;
}

/* Cost of all probes in a part, in ns, whoever pays. */
static uint64_t probe_ns_of(const struct stack_copy *copy)
{
	uint64_t ns = copy->spans ? 0 : copy->outside_ns;

	for (uint32_t i = 0; i < copy->nodes_cnt && !copy->spans; i++)
		ns += copy->nodes[i].probe_ns;
	return ns;
}

/* CPU time of all calls of a part, without the probes', in ns. */
static uint64_t cpu_ns_of(const struct stack_copy *copy)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < copy->nodes_cnt && !copy->spans; i++) {
		const struct stack_copy_node *n = &copy->nodes[i];

		if (n->self_ns > n->off_ns + n->probe_ns)
			ns += n->self_ns - n->off_ns - n->probe_ns;
	}
	return ns;
}

void reclaim__forget(struct collector *c)
{
	for (size_t i = 0; i < c->reclaimed_cnt; i++) {
		const struct stack_copy *copy = c->reclaimed[i];

		c->forgotten.entered += copy->entered;
		c->forgotten.returned += copy->returned;
		c->forgotten.unwound += copy->unwound;
		c->forgotten.deep += copy->deep;
		c->forgotten.probe_ns += probe_ns_of(copy);
		c->forgotten_cpu_ns += cpu_ns_of(copy);
		free(c->reclaimed[i]);
	}
	c->reclaimed_cnt = 0;
}
