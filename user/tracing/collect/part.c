// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A live lane may run while it is read. Whatever is seen half-done, counts are taken in an order
 * that keeps the sums right: what has ended (returned, unwound) first, what has begun (calls of the
 * paths) after.
 */
#include "collect/part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/tables.h"

int part__scratch(const struct tables *t, uint32_t **out)
{
	size_t size = t->info.nodes_cap * sizeof(**out);

	*out = malloc(size);
	if (!*out)
		return -ENOMEM;
	memset(*out, 0xff, size);
	return 0;
}

/*
 * Adds the time that open calls have had so far. Each gets the time from its entry to the entry of
 * the next one inside, less what finished callees took; only self times, as inclusive ones are
 * derived.
 */
static void add_open_time(const struct tables *t, const struct wire_lane *lane,
			  const uint32_t *scratch, struct part *part, uint64_t now_ns)
{
	uint32_t i = lane->top, guard = t->info.frames_cap;
	uint64_t inner_ns = now_ns;

	for (; i != lane->bottom && guard; guard--) {
		const struct wire_frame *f = tables__frame(t, i);
		uint32_t at;

		if (!f || !tables__node(t, f->node))
			return;
		at = scratch[f->node];
		if (at < part->nodes_cnt && f->entered_ns <= inner_ns) {
			uint64_t span = inner_ns - f->entered_ns;

			part->nodes[at].self_ns += span - f->child_ns;
			inner_ns = f->entered_ns;
		}
		i = f->up;
	}
}

/* The thread is off the CPU right now: adds the time since it went. `base` is the lane itself, or
 * the one that its spans are beside. */
static void add_wait(const struct tables *t, const struct wire_lane *lane,
		     const struct wire_lane *base, const uint32_t *scratch, struct part *part,
		     uint64_t now_ns)
{
	const struct wire_frame *top = tables__frame(t, lane->top);
	uint64_t since = base->off_since;

	if (!since || since > now_ns || !top || !tables__node(t, top->node) ||
	    tables__lane(t, base->current) != base)
		return;
	if (scratch[top->node] < part->nodes_cnt)
		part->nodes[scratch[top->node]].off_ns += now_ns - since;
}

/* Adds the time that the base has waited, and paid for probes, since the last event of the spans
 * beside it. */
static void add_missed(const struct tables *t, const struct wire_lane *lane,
		       const struct wire_lane *base, const uint32_t *scratch, struct part *part)
{
	const struct wire_frame *top = tables__frame(t, lane->top);
	uint64_t off_ns = base->off_ns - lane->off_ns, probe_ns = base->probe_ns - lane->probe_ns;
	struct part_node *n;

	if (!top || !tables__node(t, top->node) || scratch[top->node] >= part->nodes_cnt)
		return;
	n = &part->nodes[scratch[top->node]];
	/* The lane may have caught up meanwhile. */
	n->off_ns += (int64_t)off_ns > 0 ? off_ns * top->weight : 0;
	n->probe_ns += (int64_t)probe_ns > 0 ? probe_ns : 0;
}

static uint32_t count_nodes(const struct tables *t, uint32_t newest)
{
	uint32_t cnt = 0;

	for (uint32_t i = newest; tables__node(t, i) && cnt < t->info.nodes_cap; cnt++)
		i = t->node_rests[i].older;
	return cnt;
}

/* A live thread may have renamed itself since we first saw it. */
static void refresh_comm(struct part *part)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", part->pid, part->tid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(part->comm, sizeof(part->comm), f))
		part->comm[strcspn(part->comm, "\n")] = '\0';
	fclose(f);
}

/* Copies the members of the lane as a whole, but for what has ended on it. */
static void copy_lane(const struct tables *t, const struct wire_lane *lane,
		      const struct wire_lane *base, struct part *part)
{
	const struct wire_node *root = tables__node(t, lane->root);

	part->pid = lane->owner >> 32;
	part->tid = lane->goid ? 0 : (uint32_t)lane->owner;
	part->start_ns = lane->start_ns;
	part->goroutine = lane->goid;
	part->lane_ns = lane->made_ns;
	part->deep = lane->deep;
	part->spans = lane->kind == WIRE_LANE_SPANS;
	memcpy(part->comm, base->comm, sizeof(part->comm));
	part->comm[sizeof(part->comm) - 1] = '\0';
	part->entered = lane->entered;
	if (root)
		part->outside_ns = root->probe_ns;
}

/* Copies the paths, which run from the newest to the root; that itself is no call. Notes in
 * `scratch` where each of them is in the part. */
static void copy_nodes(const struct tables *t, uint32_t newest, uint32_t *scratch,
		       struct part *part)
{
	uint32_t i = newest;

	for (uint32_t at = part->nodes_cnt; at--; i = t->node_rests[i].older) {
		const struct wire_node *n = &t->nodes[i];

		part->nodes[at] = (struct part_node){
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
		};
		scratch[i] = at;
	}
	for (uint32_t k = 0; k < part->nodes_cnt; k++) {
		uint32_t parent = part->nodes[k].parent;

		part->nodes[k].parent = tables__node(t, parent) ? scratch[parent] : PART_ROOT;
	}
}

/* Whether there is anything to tell of a lane with so many paths, the root among them. */
static bool is_worth_it(const struct tables *t, const struct wire_lane *lane, uint32_t cnt)
{
	const struct wire_node *root = tables__node(t, lane->root);

	return cnt > 1 || (cnt && lane->kind != WIRE_LANE_SPANS && root && root->probe_ns);
}

int part__read(const struct tables *t, const struct wire_lane *lane, uint64_t now_ns,
	       uint32_t *scratch, struct part **out)
{
	uint64_t returned = lane->returned, unwound = lane->unwound;
	uint64_t exit_ns = tables__ended_ns(t, lane), end_ns = exit_ns ? exit_ns : now_ns;
	bool spans = lane->kind == WIRE_LANE_SPANS;
	const struct wire_lane *base = spans ? tables__lane(t, lane->base) : lane;
	uint32_t newest, cnt;
	struct part *part;

	*out = NULL;
	if (!base) /* it is being made */
		return 0;
	/* Ends first: a path that is made from here on has no part in them. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	newest = lane->newest;
	cnt = count_nodes(t, newest);
	if (!is_worth_it(t, lane, cnt))
		return 0;
	part = calloc(1, sizeof(*part) + cnt * sizeof(part->nodes[0]));
	if (!part)
		return -ENOMEM;
	part->returned = returned;
	part->unwound = unwound;
	part->nodes_cnt = cnt - 1;
	copy_lane(t, lane, base, part);
	copy_nodes(t, newest, scratch, part);
	add_open_time(t, lane, scratch, part, end_ns);
	if (spans)
		add_missed(t, lane, base, scratch, part);
	add_wait(t, lane, base, scratch, part, end_ns);
	for (uint32_t k = 0; k < part->nodes_cnt; k++) {
		/* Scaled calls make this fall below 0 for moments. */
		if ((int64_t)part->nodes[k].self_ns < 0)
			part->nodes[k].self_ns = 0;
	}
	for (uint32_t k = 0, i = newest; k < part->nodes_cnt; k++, i = t->node_rests[i].older)
		scratch[i] = PART_ROOT;
	if (!exit_ns && base->kind == WIRE_LANE_HOME)
		refresh_comm(part);
	*out = part;
	return 0;
}
