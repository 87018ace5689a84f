// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/retire.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/collector_inside.h"
#include "collect/correct.h"
#include "collect/lines.h"
#include "collect/part.h"
#include "collect/usage.h"
#include "util/array.h"

void retire__release(struct collector *c, uint32_t lane)
{
	if (c->drain.tables)
		drain__forget(&c->drain, lane);
	tables__release_lane(&c->tables, lane);
}

static int retire(struct collector *c, uint32_t number)
{
	const struct wire_lane *lane = tables__lane(&c->tables, number);
	struct part *part;
	int err;

	if (ARRAY_RESERVE(&c->retired, c->retired_cnt, &c->retired_cap))
		return -ENOMEM;
	err = c->streams ? drain__last(&c->drain, number, tables__ended_ns(&c->tables, lane)) : 0;
	if (!err)
		err = part__read(&c->tables, lane, 0, c->scratch, &part);
	if (err)
		return err;
	if (part) {
		err = usage__add_retired(c, part);
		if (err) {
			free(part);
			return err;
		}
		correct__part(part, &c->costs);
		c->retired[c->retired_cnt++] = part;
	}
	if (c->retired_lines)
		lines__add_open(&c->tables, lane, 0, c->retired_lines);
	c->retired_calls += lane->entered;
	retire__release(c, number);
	return 0;
}

static bool half_used(uint32_t used, uint32_t cap)
{
	return used > cap / 2;
}

/* Calls and spans that have begun on the lane so far. */
static uint64_t begun_on(const struct tables *t, const struct wire_lane *lane, bool *open)
{
	uint32_t guard = t->info.lanes_cap;
	uint64_t entered = lane->entered;

	*open = false;
	for (lane = tables__lane(t, lane->spans); lane && guard--;
	     lane = tables__lane(t, lane->spans)) {
		entered += lane->entered;
		*open |= lane->top != lane->bottom;
	}
	return entered;
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
		bool open;
		uint64_t entered = begun_on(&c->tables, lane, &open);

		if (short_of_lanes && lane->state == WIRE_LANE_READY && !lane->exit_ns && !open &&
		    (lane->kind == WIRE_LANE_STACK || lane->kind == WIRE_LANE_GOROUTINE) &&
		    entered == c->entered[i])
			tables__end_idle(&c->tables, i);
		c->entered[i] = entered;
	}
}

int retire__when_short(struct collector *c)
{
	const struct tables *t = &c->tables;
	uint32_t lanes = tables__lanes(t);
	bool *ended;
	int err = 0;

	if (!half_used(lanes, t->info.lanes_cap) &&
	    !half_used(tables__nodes(t), t->info.nodes_cap) &&
	    !half_used(tables__frames(t), t->info.frames_cap))
		return 0;
	end_idle(c);
	ended = calloc(lanes, sizeof(*ended));
	if (!ended)
		return -ENOMEM;
	for (uint32_t i = 1; i < lanes; i++)
		ended[i] = t->lanes[i].state == WIRE_LANE_READY && t->lanes[i].exit_ns;
	/* Spans before what they are beside, whose end is theirs. */
	for (uint32_t i = 1; !err && i < lanes; i++) {
		const struct wire_lane *lane = tables__lane(t, i);

		if (lane->state == WIRE_LANE_READY && lane->kind == WIRE_LANE_SPANS &&
		    lane->base < lanes && ended[lane->base])
			err = retire(c, i);
	}
	for (uint32_t i = 1; !err && i < lanes; i++) {
		if (ended[i])
			err = retire(c, i);
	}
	free(ended);
	return err;
}

/* Cost of all probes in a part, in ns, whoever pays. */
static uint64_t probe_ns_of(const struct part *part)
{
	uint64_t ns = part->spans ? 0 : part->outside_ns;

	for (uint32_t i = 0; i < part->nodes_cnt && !part->spans; i++)
		ns += part->nodes[i].probe_ns;
	return ns;
}

void retire__forget(struct collector *c)
{
	for (size_t i = 0; i < c->retired_cnt; i++) {
		const struct part *part = c->retired[i];

		c->forgotten.entered += part->entered;
		c->forgotten.returned += part->returned;
		c->forgotten.unwound += part->unwound;
		c->forgotten.deep += part->deep;
		c->forgotten.probe_ns += probe_ns_of(part);
		free(c->retired[i]);
	}
	c->retired_cnt = 0;
}
