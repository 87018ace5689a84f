// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A profile is put together from parts: one for each lane, read from the tables or, for lanes
 * whose entries have been given back, from the retired list.
 */
#include "collect/collector.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "collect/part.h"
#include "collect/tables.h"
#include "util/array.h"
#include "util/log.h"

struct collector {
	struct tables tables;
	uint32_t *scratch; /* for part__read() */
	uint64_t *entered; /* by lane: calls up to the last time that tables were short */
	struct part **retired;
	size_t retired_cnt, retired_cap;
	uint64_t retired_calls;
	struct profile_accounting forgotten; /* of retired threads that were dropped */
	uint32_t functions_cnt;
	bool *seen; /* functions that have a path */
	uint32_t seen_cnt, seen_nodes;
};

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
		c->entered = calloc(info->lanes_cap, sizeof(*c->entered));
		err = c->seen && c->entered ? part__scratch(&c->tables, &c->scratch) : -ENOMEM;
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
	free(c->entered);
	free(c->scratch);
	tables__unmap(&c->tables);
	free(c);
}

int collector__grow(struct collector *c, uint32_t functions_cnt)
{
	bool *grown;

	if (functions_cnt <= c->functions_cnt)
		return 0;
	grown = reallocarray(c->seen, functions_cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + c->functions_cnt, 0, functions_cnt - c->functions_cnt);
	c->seen = grown;
	c->functions_cnt = functions_cnt;
	return 0;
}

static int retire(struct collector *c, uint32_t number)
{
	const struct wire_lane *lane = tables__lane(&c->tables, number);
	struct part *part;
	int err;

	if (ARRAY_RESERVE(&c->retired, c->retired_cnt, &c->retired_cap))
		return -ENOMEM;
	err = part__read(&c->tables, lane, 0, c->scratch, &part);
	if (err)
		return err;
	c->retired_calls += lane->entered;
	if (part)
		c->retired[c->retired_cnt++] = part;
	tables__release_lane(&c->tables, number);
	return 0;
}

/* Looks at the paths that are new since the last time. */
static void note_functions(struct collector *c)
{
	uint32_t nodes = tables__nodes(&c->tables);

	for (; c->seen_nodes < nodes; c->seen_nodes++) {
		const struct wire_node *n = &c->tables.nodes[c->seen_nodes];

		if (n->parent && n->function < c->functions_cnt && !c->seen[n->function]) {
			c->seen[n->function] = true;
			c->seen_cnt++;
		}
	}
}

static bool half_used(uint32_t used, uint32_t cap)
{
	return used > cap / 2;
}

/*
 * Coroutines and goroutines end without a word. Those that have called nothing since the last time
 * are taken for ended, if there are too many.
 */
static void end_idle(struct collector *c)
{
	uint32_t lanes = tables__lanes(&c->tables), live = 0;
	bool short_of_lanes;

	for (uint32_t i = 1; i < lanes; i++)
		live += c->tables.lanes[i].state == WIRE_LANE_READY && !c->tables.lanes[i].exit_ns;
	short_of_lanes = half_used(live, c->tables.info.lanes_cap);
	for (uint32_t i = 1; i < lanes; i++) {
		const struct wire_lane *lane = &c->tables.lanes[i];
		uint64_t entered = lane->entered;

		if (short_of_lanes && lane->state == WIRE_LANE_READY && !lane->exit_ns &&
		    (lane->kind == WIRE_LANE_STACK || lane->kind == WIRE_LANE_GOROUTINE) &&
		    entered == c->entered[i])
			tables__end_idle(&c->tables, i);
		c->entered[i] = entered;
	}
}

int collector__poll(struct collector *c)
{
	const struct tables *t = &c->tables;
	uint32_t lanes = tables__lanes(t);
	int err = 0;

	note_functions(c);
	if (!half_used(lanes, t->info.lanes_cap) &&
	    !half_used(tables__nodes(t), t->info.nodes_cap) &&
	    !half_used(tables__frames(t), t->info.frames_cap))
		return 0;
	end_idle(c);
	for (uint32_t i = 1; !err && i < lanes; i++) {
		const struct wire_lane *lane = tables__lane(t, i);

		if (lane->state == WIRE_LANE_READY && lane->exit_ns)
			err = retire(c, i);
	}
	return err;
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

void collector__forget_retired(struct collector *c)
{
	for (size_t i = 0; i < c->retired_cnt; i++) {
		const struct part *part = c->retired[i];

		for (uint32_t k = 0; k < part->nodes_cnt; k++)
			c->forgotten.entered += part->nodes[k].calls;
		c->forgotten.returned += part->returned;
		c->forgotten.unwound += part->unwound;
		c->forgotten.deep += part->deep;
		free(c->retired[i]);
	}
	c->retired_cnt = 0;
}

/* The profile's arrays while they grow. */
struct assembly {
	struct profile *p;
	size_t threads_cap, nodes_cap;
	uint32_t functions_cnt;
};

/* Appends a lane's record to the profile, as a thread of its own. */
static int assemble(struct assembly *a, const struct part *part)
{
	struct profile *p = a->p;
	uint32_t thread = p->threads_cnt, base = p->nodes_cnt;
	uint64_t calls = 0;

	if (ARRAY_RESERVE(&p->threads, p->threads_cnt, &a->threads_cap) ||
	    ARRAY_RESERVE_MORE(&p->nodes, base, part->nodes_cnt, &a->nodes_cap))
		return -ENOMEM;
	p->threads[thread] = (struct profile_thread){
		.pid = part->pid,
		.tid = part->tid,
		.start_ns = part->start_ns,
		.goroutine = part->goroutine,
		.lane_ns = part->lane_ns,
	};
	memcpy(p->threads[thread].comm, part->comm, sizeof(part->comm));
	p->threads_cnt++;
	for (uint32_t i = 0; i < part->nodes_cnt; i++) {
		const struct part_node *n = &part->nodes[i];

		if (n->function >= a->functions_cnt || (n->parent != PART_ROOT && n->parent >= i))
			return -EINVAL;
		p->nodes[base + i] = (struct profile_node){
			.parent = n->parent == PART_ROOT ? 0 : base + n->parent,
			.function = n->function,
			.thread = thread,
			.stats = {.calls = n->calls,
				  .self_ns = n->self_ns,
				  .total_ns = n->self_ns,
				  .min_ns = n->min_ns ? n->min_ns : UINT64_MAX,
				  .max_ns = n->max_ns},
		};
		calls += n->calls;
	}
	/* Children come behind their parents. */
	for (uint32_t i = part->nodes_cnt; i-- > 0;) {
		const struct profile_node *n = &p->nodes[base + i];

		if (n->parent)
			p->nodes[n->parent].stats.total_ns += n->stats.total_ns;
	}
	p->nodes_cnt += part->nodes_cnt;
	p->accounting.entered += calls;
	p->accounting.returned += part->returned;
	p->accounting.unwound += part->unwound;
	p->accounting.deep += part->deep;
	return 0;
}

static int assemble_live(struct collector *c, struct assembly *a, uint64_t now_ns)
{
	uint32_t lanes = tables__lanes(&c->tables);
	struct part *part;
	int err = 0;

	for (uint32_t i = 1; !err && i < lanes; i++) {
		const struct wire_lane *lane = &c->tables.lanes[i];

		if (lane->state != WIRE_LANE_READY)
			continue;
		err = part__read(&c->tables, lane, now_ns, c->scratch, &part);
		if (!err && part)
			err = assemble(a, part);
		free(part);
	}
	return err;
}

int collector__snapshot(struct collector *c, uint64_t now_ns, struct profile **out)
{
	struct assembly a = {.p = calloc(1, sizeof(struct profile)),
			     .functions_cnt = c->functions_cnt};
	int err;

	if (!a.p)
		return -ENOMEM;
	err = ARRAY_RESERVE(&a.p->nodes, 0, &a.nodes_cap);
	if (!err) {
		memset(&a.p->nodes[0], 0, sizeof(a.p->nodes[0]));
		a.p->nodes_cnt = 1;
	}
	a.p->accounting = c->forgotten;
	for (size_t i = 0; !err && i < c->retired_cnt; i++)
		err = assemble(&a, c->retired[i]);
	if (!err)
		err = assemble_live(c, &a, now_ns);
	for (int i = 0; i < WIRE_LOSSES; i++)
		a.p->accounting.lost += c->tables.info.lost[i];
	if (err) {
		log_error("cannot put the profile together: %s", strerror(-err));
		profile__free(a.p);
		return err;
	}
	a.p->accounting.open =
		a.p->accounting.entered - a.p->accounting.returned - a.p->accounting.unwound;
	*out = a.p;
	return 0;
}
