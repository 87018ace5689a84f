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

#include "attach/costs.h"
#include "calls/profile.h"
#include "calls/stats.h"
#include "collect/correct.h"
#include "collect/distributions.h"
#include "collect/drain.h"
#include "collect/lines.h"
#include "collect/part.h"
#include "collect/tables.h"
#include "collect/yardsticks.h"
#include "util/array.h"
#include "util/log.h"

#define SEEN_AGAIN 4096 /* places that a poll looks at once more */

struct collector {
	struct tables tables;
	uint32_t *scratch;   /* for part__read() */
	uint64_t *entered;   /* by lane: calls up to the last time that tables were short */
	uint64_t *inclusive; /* by node, for collector__usage() */
	size_t inclusive_cap;
	struct part **retired;
	size_t retired_cnt, retired_cap;
	uint64_t retired_calls;
	struct profile_accounting forgotten; /* of retired threads that were dropped */
	struct probe_costs costs;
	struct function_probes *probes; /* by function; NULL: not known */
	uint32_t probes_cnt;
	bool raw;
	bool scaled; /* some calls stand for others: paths may have more than were entered */
	uint32_t functions_cnt;
	struct function_usage *retired_usage; /* by function */
	bool *seen;			      /* functions that have a path */
	uint32_t seen_cnt, seen_nodes, seen_again;
	struct drain drain;
	bool streams; /* single calls go somewhere */
	/* By site of lines: the time of calls that were open when their threads ended. NULL: no
	 * lines are counted. */
	struct line_sum *retired_lines;
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
		c->retired_usage = calloc(functions_cnt, sizeof(*c->retired_usage));
		c->entered = calloc(info->lanes_cap, sizeof(*c->entered));
		err = c->seen && c->retired_usage && c->entered
			      ? part__scratch(&c->tables, &c->scratch)
			      : -ENOMEM;
		if (!err && info->lines_cap) {
			c->retired_lines = calloc(info->lines_cap, sizeof(*c->retired_lines));
			err = c->retired_lines ? 0 : -ENOMEM;
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

void collector__set_costs(struct collector *c, const struct probe_costs *costs, bool raw)
{
	c->costs = *costs;
	c->raw = raw;
}

/* Its entry, and those of its paths, are free for others. */
static void release(struct collector *c, uint32_t lane)
{
	if (c->drain.tables)
		drain__forget(&c->drain, lane);
	tables__release_lane(&c->tables, lane);
}

void collector__reset(struct collector *c)
{
	uint32_t lanes = tables__lanes(&c->tables);

	for (uint32_t i = 1; i < lanes; i++) {
		if (c->tables.lanes[i].state == WIRE_LANE_READY)
			release(c, i);
	}
	memset(c->tables.dists, 0, c->tables.info.dists_cap * sizeof(*c->tables.dists));
	memset(c->tables.switches, 0, c->tables.info.switches_cap * sizeof(*c->tables.switches));
	for (int i = 0; i < WIRE_LOSSES; i++)
		c->tables.info.lost[i] = 0;
	*c->tables.info.undistributed = 0;
	*c->tables.info.timeline_lost = 0;
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
	__atomic_store_n(&c->tables.switches[function].every, every, __ATOMIC_RELEASE);
	return true;
}

bool collector__add_role(struct collector *c, uint32_t function, uint32_t role)
{
	if (function >= c->tables.info.switches_cap)
		return false;
	__atomic_or_fetch(&c->tables.switches[function].role, role, __ATOMIC_RELEASE);
	return true;
}

bool collector__has_role(const struct collector *c, uint32_t function)
{
	return function < c->tables.info.switches_cap && c->tables.switches[function].role;
}

/* Calls that were seen and not recorded. */
static uint64_t passed(const struct wire_switch *s)
{
	uint64_t seen = s->seen;

	return s->every > 1 ? seen - (seen + s->every - 1) / s->every : seen;
}

/* Adds what the paths of all lanes that are in the tables have done. Paths are numbered in the
 * order of their making, but for those that were used before; so, from the last to the first,
 * callees mostly come before their callers. It takes no more for a guess at inclusive times. */
static void add_usage(const struct collector *c, struct function_usage *usage, uint32_t cnt)
{
	uint64_t *inclusive = c->inclusive;

	for (uint32_t i = tables__nodes(&c->tables); i-- > 1;) {
		const struct wire_node *n = &c->tables.nodes[i];
		struct function_usage *u = &usage[n->function];
		uint64_t total;

		if (!n->lane || !n->parent || n->function >= cnt)
			continue;
		total = n->self_ns + inclusive[i];
		inclusive[i] = 0;
		if (n->parent < c->tables.info.nodes_cap)
			inclusive[n->parent] += total;
		u->calls += n->calls;
		u->self_ns += n->self_ns;
		u->off_ns += n->off_ns;
		u->probe_ns += n->probe_ns;
		u->total_ns += total;
		u->timed_ns += n->timed_ns;
		u->expected_ns += n->expected_ns;
	}
}

uint64_t collector__passed(const struct collector *c, uint32_t function)
{
	return function < c->tables.info.switches_cap ? passed(&c->tables.switches[function]) : 0;
}

int collector__usage(struct collector *c, struct function_usage *usage, uint32_t cnt)
{
	uint32_t nodes = tables__nodes(&c->tables);

	if (ARRAY_RESERVE_MORE(&c->inclusive, 0, nodes, &c->inclusive_cap))
		return -ENOMEM;
	memset(c->inclusive, 0, nodes * sizeof(*c->inclusive));
	if (cnt > c->functions_cnt) {
		memset(usage + c->functions_cnt, 0, (cnt - c->functions_cnt) * sizeof(*usage));
		cnt = c->functions_cnt;
	}
	memcpy(usage, c->retired_usage, cnt * sizeof(*usage));
	add_usage(c, usage, cnt);
	for (uint32_t f = 0; f < cnt; f++) {
		struct function_usage *u = &usage[f];

		u->passed = collector__passed(c, f);
		u->factor = correct__factor(&c->costs, u->timed_ns, u->expected_ns);
	}
	return 0;
}

/* Before the part is corrected: usage is as measured. Callees come behind their callers. */
static int add_retired_usage(struct collector *c, const struct part *part)
{
	if (ARRAY_RESERVE_MORE(&c->inclusive, 0, part->nodes_cnt, &c->inclusive_cap))
		return -ENOMEM;
	memset(c->inclusive, 0, part->nodes_cnt * sizeof(*c->inclusive));
	for (uint32_t i = part->nodes_cnt; i-- > 0;) {
		const struct part_node *n = &part->nodes[i];
		uint64_t total = n->self_ns + c->inclusive[i];
		struct function_usage *u;

		if (n->parent < i)
			c->inclusive[n->parent] += total;
		if (n->function >= c->functions_cnt)
			continue;
		u = &c->retired_usage[n->function];
		u->calls += n->calls;
		u->self_ns += n->self_ns;
		u->off_ns += n->off_ns;
		u->probe_ns += n->probe_ns;
		u->total_ns += total;
		u->timed_ns += n->timed_ns;
		u->expected_ns += n->expected_ns;
	}
	return 0;
}

static int retire(struct collector *c, uint32_t number)
{
	const struct wire_lane *lane = tables__lane(&c->tables, number);
	struct part *part;
	int err;

	if (ARRAY_RESERVE(&c->retired, c->retired_cnt, &c->retired_cap))
		return -ENOMEM;
	err = c->streams ? drain__last(&c->drain, number, lane->exit_ns) : 0;
	if (!err)
		err = part__read(&c->tables, lane, 0, c->scratch, &part);
	if (err)
		return err;
	if (part) {
		err = add_retired_usage(c, part);
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
	release(c, number);
	return 0;
}

/* What all sites of a line have seen. Time that is less than its probes are thought to have cost is
 * none. */
static void set_line(const struct collector *c, const struct line_sum *s, struct line_usage *u)
{
	uint64_t probe_ns = c->raw || (int64_t)s->probe_ns < 0 ? 0 : s->probe_ns;

	u->hits = s->hits;
	u->ns = s->ns > probe_ns ? s->ns - probe_ns : 0;
	u->error_ns = (uint64_t)((double)probe_ns * c->costs.spread);
}

int collector__lines(struct collector *c, uint64_t now_ns, struct line_usage *usage, uint32_t cnt)
{
	const struct tables *t = &c->tables;
	uint32_t lanes = tables__lanes(t);
	struct line_sum *sums, *lines;

	memset(usage, 0, cnt * sizeof(*usage));
	if (!c->retired_lines)
		return 0;
	sums = calloc((size_t)t->info.lines_cap + cnt, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	lines = sums + t->info.lines_cap;
	lines__read(t, sums);
	for (uint32_t i = 1; i < lanes; i++) {
		if (t->lanes[i].state == WIRE_LANE_READY)
			lines__add_open(t, &t->lanes[i], now_ns, sums);
	}
	for (uint32_t i = 0; i < t->info.lines_cap; i++) {
		uint32_t line = t->line_sites[i].line;

		if (!line || line > cnt)
			continue;
		lines[line - 1].hits += sums[i].hits;
		lines[line - 1].ns += sums[i].ns + c->retired_lines[i].ns;
		lines[line - 1].probe_ns += sums[i].probe_ns + c->retired_lines[i].probe_ns;
	}
	for (uint32_t i = 0; i < cnt; i++)
		set_line(c, &lines[i], &usage[i]);
	free(sums);
	return 0;
}

static void note_function(struct collector *c, uint32_t node)
{
	const struct wire_node *n = &c->tables.nodes[node];

	if (n->lane && n->parent && n->function < c->functions_cnt && !c->seen[n->function]) {
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
			err = drain__last(&c->drain, i, lane->exit_ns ? lane->exit_ns : end_ns);
	}
	return err;
}

int collector__poll(struct collector *c)
{
	const struct tables *t = &c->tables;
	uint32_t lanes = tables__lanes(t);
	int err = drain_all(c);

	if (err)
		return err;
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

size_t collector__processes(const struct collector *c, pid_t *pids, size_t cap)
{
	uint32_t lanes = tables__lanes(&c->tables);
	size_t cnt = 0;

	for (uint32_t i = 1; i < lanes && cnt < cap; i++) {
		const struct wire_lane *lane = &c->tables.lanes[i];
		pid_t pid = lane->owner >> 32;
		size_t known = cnt;

		if (lane->state != WIRE_LANE_READY)
			continue;
		/* Threads of a process mostly stand side by side. */
		while (known && pids[known - 1] != pid)
			known--;
		if (!known)
			pids[cnt++] = pid;
	}
	return cnt;
}

/* What the probes have cost, whoever pays. */
static uint64_t probe_ns_of(const struct part *part)
{
	uint64_t ns = part->outside_ns;

	for (uint32_t i = 0; i < part->nodes_cnt; i++)
		ns += part->nodes[i].probe_ns;
	return ns;
}

void collector__forget_retired(struct collector *c)
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

/* A profile on its way: the parts it is made of, and its arrays while they grow. */
struct assembly {
	const struct part **parts; /* first those that are retired, which the collector keeps */
	size_t parts_cnt, parts_cap;
	struct yardsticks yardsticks;
	struct profile *p;
	size_t threads_cap, nodes_cap;
	const struct collector *c;
};

/* *more: what each of the part's nodes has to be charged in addition, by yardsticks; may be less
 * than 0. Returns what that is for outermost calls' callers. */
static double charge_more(const struct assembly *a, const struct part *part, double *more)
{
	const struct collector *c = a->c;
	double outermost = 0;

	for (uint32_t i = 0; i < part->nodes_cnt; i++) {
		const struct part_node *n = &part->nodes[i];
		const struct function_probes *probes;
		const struct wire_cost *in, *out;
		double by;

		if (n->function >= c->probes_cnt)
			continue;
		probes = &c->probes[n->function];
		in = &c->costs.classes[probes->entry];
		out = &c->costs.classes[probes->exit];
		by = (a->yardsticks.ratio[probes->entry][probes->exit] - 1) * (double)n->calls;
		more[i] += by * (in->inside_ns + out->inside_ns);
		*(n->parent < part->nodes_cnt ? &more[n->parent] : &outermost) +=
			by * (in->outside_ns + out->outside_ns);
	}
	return outermost;
}

/* Appends a lane's record to the profile, as a thread of its own. */
static int assemble(struct assembly *a, const struct part *part, double *more)
{
	struct profile *p = a->p;
	uint32_t thread = p->threads_cnt, base = p->nodes_cnt;
	uint64_t calls = 0;
	double probe_ns;

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
	probe_ns = (double)part->outside_ns + charge_more(a, part, more);
	for (uint32_t i = 0; i < part->nodes_cnt; i++) {
		struct part_node corrected = part->nodes[i], *n = &corrected;

		if (n->function >= a->c->functions_cnt ||
		    (n->parent != PART_ROOT && n->parent >= i))
			return -EINVAL;
		p->nodes[base + i] = (struct profile_node){
			.parent = n->parent == PART_ROOT ? 0 : base + n->parent,
			.function = n->function,
			.thread = thread,
		};
		n->probe_ns = correct__added(n->probe_ns, more[i]);
		correct__node(n, &a->c->costs, a->c->raw, &p->nodes[base + i].stats);
		calls += n->calls;
		probe_ns += (double)n->probe_ns;
	}
	/* Children come behind their parents. */
	for (uint32_t i = part->nodes_cnt; i-- > 0;) {
		const struct profile_node *n = &p->nodes[base + i];

		if (!n->parent)
			continue;
		stats__add_callee(&p->nodes[n->parent].stats, &n->stats);
	}
	p->nodes_cnt += part->nodes_cnt;
	/* What was entered since its paths were read is left out; but scaled calls are estimates.
	 */
	p->accounting.entered += a->c->scaled ? part->entered : calls;
	p->accounting.returned += part->returned;
	p->accounting.unwound += part->unwound;
	p->accounting.deep += part->deep;
	p->accounting.probe_ns += (uint64_t)probe_ns;
	return 0;
}

static int add_live(struct collector *c, struct assembly *a, uint64_t now_ns)
{
	uint32_t lanes = tables__lanes(&c->tables);
	struct part *part;
	int err = 0;

	for (uint32_t i = 1; !err && i < lanes; i++) {
		const struct wire_lane *lane = &c->tables.lanes[i];

		if (lane->state != WIRE_LANE_READY)
			continue;
		if (ARRAY_RESERVE(&a->parts, a->parts_cnt, &a->parts_cap))
			return -ENOMEM;
		err = part__read(&c->tables, lane, now_ns, c->scratch, &part);
		if (!err && part) {
			correct__part(part, &c->costs);
			a->parts[a->parts_cnt++] = part;
		}
	}
	return err;
}

/* All parts, one after the other. */
static int assemble_all(struct assembly *a)
{
	size_t cap = 0;
	double *more = NULL;
	int err = yardsticks__measure(a->parts, a->parts_cnt, a->c->probes, a->c->probes_cnt,
				      &a->yardsticks);

	for (size_t i = 0; !err && i < a->parts_cnt; i++) {
		uint32_t cnt = a->parts[i]->nodes_cnt;

		if (ARRAY_RESERVE_MORE(&more, 0, cnt, &cap)) {
			err = -ENOMEM;
			break;
		}
		memset(more, 0, cnt * sizeof(*more));
		err = assemble(a, a->parts[i], more);
	}
	free(more);
	return err;
}

int collector__snapshot(struct collector *c, uint64_t now_ns, struct profile **out)
{
	struct assembly a = {.p = calloc(1, sizeof(struct profile)), .c = c};
	int err;

	if (!a.p)
		return -ENOMEM;
	err = ARRAY_RESERVE(&a.p->nodes, 0, &a.nodes_cap);
	if (!err) {
		memset(&a.p->nodes[0], 0, sizeof(a.p->nodes[0]));
		a.p->nodes_cnt = 1;
	}
	a.p->accounting = c->forgotten;
	if (!err && ARRAY_RESERVE_MORE(&a.parts, 0, c->retired_cnt, &a.parts_cap))
		err = -ENOMEM;
	for (; !err && a.parts_cnt < c->retired_cnt; a.parts_cnt++)
		a.parts[a.parts_cnt] = c->retired[a.parts_cnt];
	if (!err)
		err = add_live(c, &a, now_ns);
	if (!err)
		err = assemble_all(&a);
	for (size_t i = c->retired_cnt; i < a.parts_cnt; i++)
		free((void *)a.parts[i]);
	free(a.parts);
	if (!err)
		err = distributions__read(&c->tables, c->functions_cnt, a.p);
	for (int i = 0; i < WIRE_LOSSES; i++)
		a.p->accounting.lost += c->tables.info.lost[i];
	a.p->accounting.undistributed = *c->tables.info.undistributed;
	if (c->retired_lines)
		a.p->accounting.line_misses = *c->tables.info.line_misses;
	a.p->accounting.timeline_calls = c->drain.sent;
	a.p->accounting.timeline_lost = *c->tables.info.timeline_lost;
	for (int i = 0; c->tables.info.untriggered && i < WIRE_SHARDS; i++)
		a.p->accounting.untriggered +=
			__atomic_load_n(&c->tables.info.untriggered[i].cnt, __ATOMIC_RELAXED);
	for (uint32_t f = 0; f < c->functions_cnt && f < c->tables.info.switches_cap; f++)
		a.p->accounting.dropped += passed(&c->tables.switches[f]);
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
