// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A live call stack may run while it is read. Whatever is seen half-done, counts are taken in an
 * order that keeps the sums right: what has ended (returned, unwound) first, what has begun (calls
 * of the paths) after.
 */
#include "tables/stack_copy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/bpf_tables.h"

int stack_copy__scratch(const struct bpf_tables *t, uint32_t **out)
{
	size_t size = t->info.nodes_cap * sizeof(**out);

	*out = malloc(size);
	if (!*out)
		return -ENOMEM;
	memset(*out, 0xff, size);
	return 0;
}

/* When the burst ended that the call was entered in, as from then on nobody may see it leave: its
 * probes go one after the other, long before they are known to be gone. 0: it goes on, or the call
 * is of none. */
static uint64_t burst_end_ns(const struct bpf_tables *t, const struct wire_frame *f)
{
	uint64_t end_ns;

	if (!(f->entry & WIRE_FRAME_BURST) || !t->info.burst_ends_ns)
		return 0;
	end_ns = t->info.burst_ends_ns[WIRE_FRAME_BURST_NUM(f->entry)];
	return f->entered_ns < end_ns ? end_ns : 0;
}

/* Like innermost_known() in BPF. NULL: not known. */
static const struct wire_frame *innermost_known(const struct bpf_tables *t,
						const struct wire_callstack *callstack)
{
	const struct wire_frame *f = bpf_tables__frame(t, callstack->top);

	for (uint32_t guard = t->info.frames_cap; f && guard && burst_end_ns(t, f); guard--)
		f = bpf_tables__frame(t, f->up);
	return f;
}

/* When an open call ends, as far as it is known, at `inner_ns` at the latest: as stale_end() in BPF
 * has it. */
static uint64_t known_end_ns(const struct bpf_tables *t, const struct wire_frame *f,
			     uint64_t inner_ns)
{
	uint64_t end_ns = f->entered_ns + f->child_ns, burst_ns = burst_end_ns(t, f);

	if (!burst_ns)
		return inner_ns;
	if (end_ns < burst_ns)
		end_ns = burst_ns;
	return end_ns < inner_ns ? end_ns : inner_ns;
}

/*
 * Adds the time that open calls have had so far. Each gets the time from its entry to the entry of
 * the next one inside, less what finished callees took; only self times, as inclusive ones are
 * derived. What comes after the end of a burst is that of the innermost caller that is open for
 * sure: `after_ns`.
 */
static void add_open_time(const struct bpf_tables *t, const struct wire_callstack *callstack,
			  const uint32_t *scratch, struct stack_copy *copy, uint64_t now_ns)
{
	uint32_t i = callstack->top, guard = t->info.frames_cap;
	uint64_t inner_ns = now_ns, after_ns = 0;

	for (; i != callstack->bottom && guard; guard--) {
		const struct wire_frame *f = bpf_tables__frame(t, i);
		uint32_t at;

		if (!f || !bpf_tables__node(t, f->node))
			return;
		at = scratch[f->node];
		if (at < copy->nodes_cnt && f->entered_ns <= inner_ns) {
			uint64_t end_ns = known_end_ns(t, f, inner_ns);

			copy->nodes[at].self_ns += end_ns - f->entered_ns - f->child_ns;
			after_ns += inner_ns - end_ns;
			if (!burst_end_ns(t, f)) {
				copy->nodes[at].self_ns += after_ns;
				after_ns = 0;
			}
			inner_ns = f->entered_ns;
		}
		i = f->up;
	}
}

uint64_t stack_copy__idle_ns(const struct bpf_tables *t, const struct wire_callstack *callstack,
			     uint64_t now_ns)
{
	uint64_t since_ns = 0;

	if (!callstack->runner && callstack->left_ns)
		since_ns = callstack->left_ns;
	else if (bpf_tables__callstack(t, callstack->current) == callstack)
		since_ns = callstack->off_since;
	return since_ns && since_ns < now_ns ? now_ns - since_ns : 0;
}

/* The thread is off the CPU right now, or has left the call stack, as a coroutine's, for another:
 * adds the time since it went. `base` is the call stack itself, or the one that its spans are
 * beside. */
static void add_wait(const struct bpf_tables *t, const struct wire_callstack *callstack,
		     const struct wire_callstack *base, const uint32_t *scratch,
		     struct stack_copy *copy, uint64_t now_ns)
{
	const struct wire_frame *top = innermost_known(t, callstack);

	if (top && bpf_tables__node(t, top->node) && scratch[top->node] < copy->nodes_cnt)
		copy->nodes[scratch[top->node]].off_ns += stack_copy__idle_ns(t, base, now_ns);
}

/* Adds the time that the base has waited, and paid for probes, since the last event of the spans
 * beside it. */
static void add_missed(const struct bpf_tables *t, const struct wire_callstack *callstack,
		       const struct wire_callstack *base, const uint32_t *scratch,
		       struct stack_copy *copy)
{
	const struct wire_frame *top = bpf_tables__frame(t, callstack->top);
	uint64_t off_ns = base->off_ns - callstack->off_ns,
		 probe_ns = base->probe_ns - callstack->probe_ns;
	struct stack_copy_node *n;

	if (!top || !bpf_tables__node(t, top->node) || scratch[top->node] >= copy->nodes_cnt)
		return;
	n = &copy->nodes[scratch[top->node]];
	/* The call stack may have caught up meanwhile. */
	n->off_ns += (int64_t)off_ns > 0 ? off_ns * top->weight : 0;
	n->probe_ns += (int64_t)probe_ns > 0 ? probe_ns : 0;
}

static uint32_t count_nodes(const struct bpf_tables *t, uint32_t newest)
{
	uint32_t cnt = 0;

	for (uint32_t i = newest; bpf_tables__node(t, i) && cnt < t->info.nodes_cap; cnt++)
		i = t->node_rests[i].older;
	return cnt;
}

/* A live thread may have renamed itself since we first saw it. */
static void refresh_comm(struct stack_copy *copy)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", copy->pid, copy->tid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(copy->comm, sizeof(copy->comm), f))
		copy->comm[strcspn(copy->comm, "\n")] = '\0';
	fclose(f);
}

/* Copies the members of the call stack as a whole, but for what has ended on it. */
static void copy_callstack(const struct bpf_tables *t, const struct wire_callstack *callstack,
			   const struct wire_callstack *base, struct stack_copy *copy)
{
	const struct wire_node *root = bpf_tables__node(t, callstack->root);

	copy->pid = callstack->owner >> 32;
	copy->tid = callstack->goid ? 0 : (uint32_t)callstack->owner;
	copy->start_ns = callstack->start_ns;
	copy->goroutine = callstack->goid;
	copy->callstack_ns = callstack->made_ns;
	copy->deep = callstack->deep;
	copy->spans = callstack->kind == WIRE_CALLSTACK_SPANS;
	memcpy(copy->comm, base->comm, sizeof(copy->comm));
	copy->comm[sizeof(copy->comm) - 1] = '\0';
	copy->entered = callstack->entered;
	if (root)
		copy->outside_ns = root->probe_ns;
}

/* Copies the paths, which run from the newest to the root; that itself is no call. Notes in
 * `scratch` where each of them is in the part. */
static void copy_nodes(const struct bpf_tables *t, uint32_t newest, uint32_t *scratch,
		       struct stack_copy *copy)
{
	uint32_t i = newest;

	for (uint32_t at = copy->nodes_cnt; at--; i = t->node_rests[i].older) {
		const struct wire_node *n = &t->nodes[i];

		copy->nodes[at] = (struct stack_copy_node){
			.parent = n->parent,
			.function = n->function,
			.calls = n->calls,
			.self_ns = n->self_ns,
			.min_ns = n->min_ns,
			.max_ns = n->max_ns,
			.off_ns = t->node_rests[i].off_ns,
			.probe_ns = n->probe_ns,
			.timed_ns = n->timed_ns,
			.expected_ns = n->expected_ns,
			.number = i,
		};
		scratch[i] = at;
	}
	for (uint32_t k = 0; k < copy->nodes_cnt; k++) {
		uint32_t parent = copy->nodes[k].parent;

		copy->nodes[k].parent =
			bpf_tables__node(t, parent) ? scratch[parent] : STACK_COPY_ROOT;
	}
}

/* Whether there is anything to tell of a call stack with so many paths, the root among them. */
static bool is_worth_it(const struct bpf_tables *t, const struct wire_callstack *callstack,
			uint32_t cnt)
{
	const struct wire_node *root = bpf_tables__node(t, callstack->root);

	return cnt > 1 ||
	       (cnt && callstack->kind != WIRE_CALLSTACK_SPANS && root && root->probe_ns);
}

int stack_copy__read(const struct bpf_tables *t, const struct wire_callstack *callstack,
		     uint64_t now_ns, uint32_t *scratch, struct stack_copy **out)
{
	uint64_t returned = callstack->returned, unwound = callstack->unwound;
	uint64_t end_ns = bpf_tables__open_until(t, callstack, now_ns);
	bool spans = callstack->kind == WIRE_CALLSTACK_SPANS;
	const struct wire_callstack *base =
		spans ? bpf_tables__callstack(t, callstack->base) : callstack;
	uint32_t newest, cnt;
	struct stack_copy *copy;

	*out = NULL;
	if (!base) /* it is being made */
		return 0;
	/* Ends first: a path that is made from here on has no part in them. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	newest = callstack->newest;
	cnt = count_nodes(t, newest);
	if (!is_worth_it(t, callstack, cnt))
		return 0;
	copy = calloc(1, sizeof(*copy) + cnt * sizeof(copy->nodes[0]));
	if (!copy)
		return -ENOMEM;
	copy->returned = returned;
	copy->unwound = unwound;
	copy->nodes_cnt = cnt - 1;
	copy_callstack(t, callstack, base, copy);
	copy_nodes(t, newest, scratch, copy);
	add_open_time(t, callstack, scratch, copy, end_ns);
	if (spans)
		add_missed(t, callstack, base, scratch, copy);
	add_wait(t, callstack, base, scratch, copy, end_ns);
	for (uint32_t k = 0; k < copy->nodes_cnt; k++) {
		/* Scaled calls make this fall below 0 for moments. */
		if ((int64_t)copy->nodes[k].self_ns < 0)
			copy->nodes[k].self_ns = 0;
	}
	for (uint32_t k = 0, i = newest; k < copy->nodes_cnt; k++, i = t->node_rests[i].older)
		scratch[i] = STACK_COPY_ROOT;
	if (!base->exit_ns && base->kind == WIRE_CALLSTACK_THREAD)
		refresh_comm(copy);
	*out = copy;
	return 0;
}

int copy_paths__init(struct copy_paths *x, const struct stack_copy *from, size_t nodes,
		     size_t samples)
{
	uint32_t size = 2;

	while (size < (nodes + 1) * 2)
		size *= 2;
	x->mask = size - 1;
	x->index = calloc(size, sizeof(*x->index));
	x->to = calloc(1, sizeof(*x->to) + nodes * sizeof(x->to->nodes[0]) +
				  samples * sizeof(x->to->samples[0]));
	if (!x->index || !x->to) {
		free(x->to);
		x->to = NULL;
		return -ENOMEM;
	}
	memcpy(x->to, from, sizeof(*from));
	x->to->nodes_cnt = x->to->samples_cnt = 0;
	x->to->samples = (struct stack_copy_sample *)&x->to->nodes[nodes];
	return 0;
}

void copy_paths__fini(struct copy_paths *x)
{
	free(x->index);
}

uint32_t copy_paths__node(struct copy_paths *x, uint32_t parent, uint32_t function)
{
	uint32_t i = ((uint64_t)parent << 24 ^ function) * 0x9e3779b97f4a7c15ull >> 32;

	for (;; i++) {
		uint32_t *place = &x->index[i & x->mask];
		struct stack_copy_node *n;

		if (!*place) {
			x->to->nodes[x->to->nodes_cnt] =
				(struct stack_copy_node){.parent = parent, .function = function};
			*place = ++x->to->nodes_cnt;
			return *place - 1;
		}
		n = &x->to->nodes[*place - 1];
		if (n->parent == parent && n->function == function)
			return *place - 1;
	}
}

void copy_paths__add(struct copy_paths *x, uint32_t node, const struct stack_copy_node *more)
{
	struct stack_copy_node *n = &x->to->nodes[node];

	n->calls += more->calls;
	n->burst_calls += more->burst_calls;
	n->self_ns += more->self_ns;
	if (more->min_ns && (!n->min_ns || more->min_ns < n->min_ns))
		n->min_ns = more->min_ns;
	if (more->max_ns > n->max_ns)
		n->max_ns = more->max_ns;
	n->off_ns += more->off_ns;
	n->probe_ns += more->probe_ns;
	if (n->timed_ns < 1u << 31 && n->expected_ns < 1u << 31) {
		n->timed_ns += more->timed_ns;
		n->expected_ns += more->expected_ns;
	}
}

void copy_paths__sample(struct copy_paths *x, const struct stack_copy_sample *sample)
{
	x->to->samples[x->to->samples_cnt++] = *sample;
}

void copy_paths__samples(struct copy_paths *x, const struct stack_copy *from, const uint32_t *at)
{
	for (uint32_t i = 0; i < from->samples_cnt; i++) {
		struct stack_copy_sample moved = from->samples[i];

		moved.node = at[moved.node];
		if (moved.base != STACK_COPY_ROOT)
			moved.base = at[moved.base];
		copy_paths__sample(x, &moved);
	}
}
