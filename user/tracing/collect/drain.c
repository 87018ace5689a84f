// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tables/value_store.h"
#include "tables/bpf_tables.h"
#include "tables/stack_copy.h"
#include "util/array.h"
#include "util/log.h"

#define BATCH 4096 /* calls that are sent at once */

int drain__init(struct drain *d, struct bpf_tables *t)
{
	*d = (struct drain){0};
	if (!t->chunks)
		return 0;
	d->places = calloc(t->info.callstacks_cap, sizeof(*d->places));
	d->paths = calloc(t->info.nodes_cap, sizeof(*d->paths));
	if (!d->places || !d->paths || ARRAY_RESERVE_MORE(&d->calls, 0, BATCH, &d->calls_cap))
		return -ENOMEM;
	if (t->lists) {
		d->values = value_store__new(t, BATCH + 1);
		if (!d->values)
			return -ENOMEM;
	}
	d->tables = t;
	return 0;
}

void drain__fini(struct drain *d)
{
	if (d->overwaited)
		log_debug("%llu single calls with more time off the CPU than they took",
			  (unsigned long long)d->overwaited);
	free(d->places);
	free(d->paths);
	free(d->new_paths);
	free(d->calls);
	free(d->values);
	*d = (struct drain){0};
}

static int no_memory(void)
{
	log_error("cannot keep single calls: %s", strerror(ENOMEM));
	return -ENOMEM;
}

/* The number of a node's path; 0: it is a call stack's root, or no node. New ones are noted
 * innermost first, then turned round: callers come before callees. Their callers' numbers are
 * filled in then.
 */
static int path_of(struct drain *d, uint32_t node, uint32_t callstack, uint32_t *out)
{
	const struct bpf_tables *t = d->tables;
	size_t first = d->new_paths_cnt, cnt = 0, deepest = t->info.nodes_cap;
	uint32_t i = node, parent, number;

	for (; bpf_tables__node(t, i) && t->nodes[i].parent && !d->paths[i];
	     i = t->nodes[i].parent) {
		if (!deepest--)
			return -EINVAL;
		if (ARRAY_RESERVE(&d->new_paths, d->new_paths_cnt, &d->new_paths_cap))
			return no_memory();
		d->new_paths[d->new_paths_cnt++] = (struct recorded_path){
			.parent = i, /* its own node, for now */
			.function = t->nodes[i].function,
			.callstack = callstack,
		};
		cnt++;
	}
	parent = bpf_tables__node(t, i) && t->nodes[i].parent ? d->paths[i] : 0;
	number = parent;
	for (size_t a = first, b = first + cnt; a + 1 < b; a++) {
		struct recorded_path last = d->new_paths[--b];

		d->new_paths[b] = d->new_paths[a];
		d->new_paths[a] = last;
	}
	for (size_t a = first; a < first + cnt; a++) {
		number = ++d->paths_cnt;
		d->paths[d->new_paths[a].parent] = number;
		d->new_paths[a].parent = parent;
		parent = number;
	}
	*out = number;
	return 0;
}

/* The call stack's number; a new one is sent at once. */
static int callstack_of(struct drain *d, uint32_t number, uint32_t *out)
{
	const struct wire_callstack *callstack = bpf_tables__callstack(d->tables, number);
	struct drain_place *place = &d->places[number];
	struct recorded_callstack new = {
		.pid = callstack->owner >> 32,
		.tid = callstack->goid ? 0 : (uint32_t)callstack->owner,
		.start_ns = callstack->start_ns,
		.goroutine = callstack->goid,
		.callstack_ns = callstack->made_ns,
		.spans = callstack->kind == WIRE_CALLSTACK_SPANS,
	};
	int err = 0;

	if (!place->callstack) {
		place->callstack = ++d->callstacks_cnt;
		err = d->stream.callstacks(d->stream.ctx, &new, 1);
	}
	*out = place->callstack;
	return err;
}

static int send(struct drain *d, uint32_t callstack)
{
	int err = 0;

	if (d->new_paths_cnt)
		err = d->stream.paths(d->stream.ctx, d->new_paths, d->new_paths_cnt);
	if (!err && d->calls_cnt)
		err = d->stream.calls(d->stream.ctx, callstack, d->calls, d->calls_cnt);
	d->sent += d->calls_cnt;
	d->new_paths_cnt = d->calls_cnt = 0;
	if (d->values)
		value_store__clear(d->values);
	return err;
}

/* Notes a call to be sent, with its values, if there are any. `open`: it has not ended. */
static int take(struct drain *d, const struct wire_call *call, const struct wire_values *values,
		uint32_t callstack, bool open)
{
	uint64_t enter_ns = call->entered_ns > d->start_ns ? call->entered_ns - d->start_ns : 0;
	uint32_t path = bpf_tables__node(d->tables, call->node) ? d->paths[call->node] : 0;
	int err = path ? 0 : path_of(d, call->node, callstack, &path);

	if (err || !path)
		return err;
	d->calls[d->calls_cnt] = (struct timeline_call){
		.node = path,
		.enter_ns = enter_ns,
		.leave_ns = enter_ns + call->took_ns,
		.off_ns = call->off_ns < call->took_ns ? call->off_ns : call->took_ns,
		.open = open,
	};
	if (d->values && values)
		value_store__take(d->values, values, &d->calls[d->calls_cnt]);
	d->calls_cnt++;
	return d->calls_cnt < BATCH ? 0 : send(d, callstack);
}

/* Takes a chunk's calls from the place on. Sets *next to the chunk behind it. */
static int take_chunk(struct drain *d, struct drain_place *place, uint32_t callstack,
		      uint32_t *next)
{
	const struct wire_chunk *c = bpf_tables__chunk(d->tables, place->chunk);
	uint32_t cnt;
	int err = 0;

	*next = 0;
	if (!c)
		return 0;
	/* Once there is a next one, this one's count does not change. */
	*next = __atomic_load_n(&c->next, __ATOMIC_ACQUIRE);
	cnt = __atomic_load_n(&c->cnt, __ATOMIC_ACQUIRE);
	cnt = cnt < WIRE_CHUNK_CALLS ? cnt : WIRE_CHUNK_CALLS;
	while (!err && place->taken < cnt) {
		const struct wire_call *call = &c->calls[place->taken++];
		const struct wire_values *values = NULL;

		if (call->records && call->records <= cnt - place->taken) {
			values = (const struct wire_values *)(call + 1);
			place->taken += call->records;
		}
		d->overwaited += call->off_ns > call->took_ns;
		err = take(d, call, values, callstack, false);
	}
	return err;
}

int drain__callstack(struct drain *d, uint32_t number)
{
	struct drain_place *place = &d->places[number];
	const struct wire_callstack *wire = bpf_tables__callstack(d->tables, number);
	uint32_t callstack, next;
	int err;

	if (!place->chunk)
		place->chunk = __atomic_load_n(&wire->first_chunk, __ATOMIC_ACQUIRE);
	if (!place->chunk)
		return 0;
	err = callstack_of(d, number, &callstack);
	while (!err) {
		err = take_chunk(d, place, callstack, &next);
		if (err || !next)
			break;
		bpf_tables__release_chunk(d->tables, place->chunk);
		*place = (struct drain_place){.chunk = next, .callstack = place->callstack};
	}
	return err ? err : send(d, callstack);
}

int drain__last(struct drain *d, uint32_t number, uint64_t end_ns)
{
	const struct bpf_tables *t = d->tables;
	const struct wire_callstack *wire = bpf_tables__callstack(t, number);
	const struct wire_callstack *base =
		wire->kind == WIRE_CALLSTACK_SPANS ? bpf_tables__callstack(t, wire->base) : wire;
	uint64_t idle_ns = stack_copy__idle_ns(t, base ? base : wire, end_ns);
	uint32_t guard = t->info.frames_cap, callstack = 0;
	int err = drain__callstack(d, number);

	if (wire->top != wire->bottom && !err)
		err = callstack_of(d, number, &callstack);
	for (uint32_t i = wire->top; !err && i != wire->bottom && guard; guard--) {
		const struct wire_frame *f = bpf_tables__frame(t, i);
		struct wire_call call;

		if (!f)
			break;
		call = (struct wire_call){
			.entered_ns = f->entered_ns,
			.took_ns = end_ns > f->entered_ns ? end_ns - f->entered_ns : 0,
			.off_ns = (base ? base : wire)->off_ns + idle_ns -
				  t->frame_rests[i].entered_off_ns,
			.node = f->node,
		};
		err = take(d, &call,
			   WIRE_FRAME_VALUES(f->entry) && t->values ? &t->values[i] : NULL,
			   callstack, true);
		i = f->up;
	}
	return err ? err : send(d, callstack);
}

int drain__place(struct drain *d, const struct wire_spot *at, uint32_t *callstack, uint32_t *path)
{
	const struct wire_callstack *wire = bpf_tables__callstack(d->tables, at->callstack);
	int err;

	*callstack = *path = 0;
	if (!at->node || !wire || wire->state != WIRE_CALLSTACK_READY || wire->lives != at->lives)
		return 0;
	err = callstack_of(d, at->callstack, callstack);
	return err ? err : path_of(d, at->node, *callstack, path);
}

int drain__send_paths(struct drain *d)
{
	return send(d, 0);
}

void drain__forget(struct drain *d, uint32_t number)
{
	const struct bpf_tables *t = d->tables;
	const struct wire_callstack *callstack = bpf_tables__callstack(t, number);
	uint32_t chunk = d->places[number].chunk, guard = t->info.chunks_cap;

	if (!chunk)
		chunk = callstack->first_chunk;
	while (bpf_tables__chunk(t, chunk) && guard--) {
		uint32_t next = t->chunks[chunk].next;

		bpf_tables__release_chunk(d->tables, chunk);
		chunk = next;
	}
	guard = t->info.nodes_cap;
	for (uint32_t i = callstack->newest; bpf_tables__node(t, i) && guard--;
	     i = t->node_rests[i].older)
		d->paths[i] = 0;
	d->places[number] = (struct drain_place){0};
}
