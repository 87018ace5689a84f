// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timeline is walked thread by thread, and tasks go from one to another. So one walk gathers all
 * submits and runs, with where each lies: in which session, and in which run. Sorted by time, each
 * run finds its submit in a queue of its key. By then the run around that submit has found its own,
 * as it began before, so that chains of tasks resolve themselves.
 */
#include "sessions/session_links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/function_glob.h"
#include "calls/profile.h"
#include "calls/session_data.h"
#include "calls/values.h"
#include "sessions/session_spec.h"
#include "sessions/session_walk.h"
#include "timeline/timeline.h"
#include "util/array.h"
#include "util/hash.h"
#include "util/search.h"

#define NONE UINT32_MAX

struct link_event {
	uint64_t enter_ns, leave_ns;
	uint64_t key;
	uint64_t call;	  /* its number in walks */
	uint64_t session; /* of its thread, or, once a run is matched, that it continues; 0: none */
	uint32_t around;  /* event: the innermost run around it, in no session of its own */
	uint32_t next;	  /* event: what waits behind it */
	uint32_t link;
	bool runs;
	bool matched;
	bool open; /* its call has not ended */
};

/* Whose calls a link looks at: by function, the number of the value from 1 on. */
struct link_sides {
	uint32_t *submits, *runs;
};

struct matcher {
	const struct profile *p;
	struct link_sides *sides;
	struct session_link_stats *stats;
	size_t links_cnt, max;
	struct link_event *events;
	size_t events_cnt, events_cap;
	uint32_t *around; /* by depth: as link_event::around */
	size_t around_cap;
	struct session_parts *out;
	size_t parts_cap, extents_cap;
};

/* Tasks of one key that wait. */
struct link_queue {
	uint64_t key;
	uint32_t link;
	uint32_t first, last; /* events; NONE: nothing waits */
	bool used;
	bool waits;  /* the newest submit has found no run yet */
	bool shared; /* several have waited at once */
};

/* Returns how many functions have the value, or -ENOMEM. */
static int64_t resolve_side(const struct profile *p, const char *glob, const char *name,
			    uint32_t **numbers)
{
	int64_t cnt = 0;

	*numbers = calloc(p->functions_cnt + 1, sizeof(**numbers));
	if (!*numbers)
		return -ENOMEM;
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (!function_glob__matches(glob, &p->functions[i]))
			continue;
		(*numbers)[i] = profile__argument_number(p, i, name);
		cnt += (*numbers)[i] != 0;
	}
	return cnt;
}

static int resolve_links(struct matcher *m, const struct session_link *links)
{
	m->sides = calloc(m->links_cnt + 1, sizeof(*m->sides));
	if (!m->sides)
		return -ENOMEM;
	for (size_t i = 0; i < m->links_cnt; i++) {
		const struct session_link *l = &links[i];
		int64_t submits =
			resolve_side(m->p, l->submit, l->submit_value, &m->sides[i].submits);
		int64_t runs = resolve_side(m->p, l->run, l->run_value, &m->sides[i].runs);

		if (submits < 0 || runs < 0)
			return -ENOMEM;
		m->stats[i].submit_functions = submits;
		m->stats[i].run_functions = runs;
	}
	return 0;
}

/* Integers are equal by their bits, whatever their sign. Returns false if there is no value. */
static bool key_of(const struct timeline_call *call, uint32_t number, uint64_t *key)
{
	const struct call_value *v;

	if (number > call->values_cnt)
		return false;
	v = &call->values[number - 1];
	switch (v->kind) {
	case VALUE_INT:
		*key = (uint64_t)v->i;
		return true;
	case VALUE_UINT:
		*key = v->u;
		return true;
	case VALUE_FLOAT:
		memcpy(key, &v->f, sizeof(*key));
		return true;
	case VALUE_TEXT: /* two of one run with the same hash are not to be expected */
		*key = hash__text(v->text);
		return true;
	default:
		return false;
	}
}

/* Returns 1 if the call has become an event, 0 if not, or -ENOMEM. */
static int add_event(struct matcher *m, const struct session_step *s, uint32_t link, bool runs,
		     uint32_t around)
{
	const struct link_sides *sides = &m->sides[link];
	struct session_link_stats *stats = &m->stats[link];
	uint64_t key;

	++*(runs ? &stats->runs : &stats->submits);
	if (!key_of(s->call, (runs ? sides->runs : sides->submits)[s->function], &key)) {
		stats->keyless++;
		return 0;
	}
	if (m->events_cnt == m->max) {
		stats->forgotten++;
		return 0;
	}
	if (ARRAY_RESERVE(&m->events, m->events_cnt, &m->events_cap))
		return -ENOMEM;
	m->events[m->events_cnt++] = (struct link_event){
		.enter_ns = s->call->enter_ns,
		.leave_ns = s->call->leave_ns,
		.open = s->call->open,
		.key = key,
		.call = s->number,
		.session = s->session,
		.around = around,
		.next = NONE,
		.link = link,
		.runs = runs,
	};
	return 1;
}

static int gather_step(const struct session_step *s, void *ctx)
{
	struct matcher *m = ctx;
	uint32_t around = s->depth && !s->begins ? m->around[s->depth - 1] : NONE;
	int added = 0;

	if (ARRAY_RESERVE(&m->around, s->depth, &m->around_cap))
		return -ENOMEM;
	/* A call that runs a task and submits another submits it as part of the first task. */
	for (uint32_t i = 0; i < m->links_cnt && added >= 0; i++) {
		if (!m->sides[i].runs[s->function])
			continue;
		added = add_event(m, s, i, true, around);
		if (added > 0)
			around = m->events_cnt - 1;
	}
	for (uint32_t i = 0; i < m->links_cnt && added >= 0; i++) {
		if (m->sides[i].submits[s->function])
			added = add_event(m, s, i, false, around);
	}
	m->around[s->depth] = around;
	return added < 0 ? added : 0;
}

static int compare_events(const void *a, const void *b, void *ctx)
{
	const struct link_event *events = ctx;
	const struct link_event *x = &events[*(const uint32_t *)a];
	const struct link_event *y = &events[*(const uint32_t *)b];

	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	if (x->runs != y->runs)
		return y->runs ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* By time, submits before runs that begin at the same one. NULL: no memory. */
static uint32_t *sort_events(struct matcher *m)
{
	uint32_t *order = calloc(m->events_cnt + 1, sizeof(*order));

	for (uint32_t i = 0; order && i < m->events_cnt; i++)
		order[i] = i;
	if (order)
		qsort_r(order, m->events_cnt, sizeof(*order), compare_events, m->events);
	return order;
}

/* The queue of the event's key; `mask` + 1 are more than there are keys. */
static struct link_queue *queue_of(struct link_queue *queues, size_t mask,
				   const struct link_event *e)
{
	struct link_queue *q;

	for (uint64_t h = hash__mix(e->key ^ (uint64_t)e->link << 48);; h++) {
		q = &queues[h & mask];
		if (!q->used)
			*q = (struct link_queue){
				.key = e->key,
				.link = e->link,
				.first = NONE,
				.last = NONE,
				.used = true,
			};
		if (q->key == e->key && q->link == e->link)
			return q;
	}
}

static void push(struct link_event *events, struct link_queue *q, uint32_t event)
{
	if (q->first == NONE)
		q->first = event;
	else
		events[q->last].next = event;
	q->last = event;
}

/* The session that an event is in. Runs around it that continue none are of the one around them. */
static uint64_t session_of(const struct link_event *events, const struct link_event *e)
{
	uint64_t own = e->session;

	for (uint32_t i = e->around; i != NONE; i = events[i].around) {
		if (events[i].matched && events[i].session)
			return events[i].session;
	}
	return own;
}

static int add_part(struct matcher *m, struct link_event *run, const struct link_event *submit)
{
	struct session_link_stats *stats = &m->stats[run->link];
	uint64_t session = session_of(m->events, submit);
	uint64_t from_ns = run->enter_ns >= submit->leave_ns ? submit->leave_ns : submit->enter_ns;
	struct session_parts *out = m->out;

	stats->matched++;
	if (!session)
		return 0;
	if (ARRAY_RESERVE(&out->parts, out->parts_cnt, &m->parts_cap) ||
	    ARRAY_RESERVE(&out->extents, out->extents_cnt, &m->extents_cap))
		return -ENOMEM;
	stats->joined++;
	out->parts[out->parts_cnt++] = (struct session_part){
		.call = run->call,
		.submit = submit->call,
		.session = session,
		.queue_ns = run->enter_ns - from_ns,
		.inside = session_of(m->events, run) == session,
	};
	out->extents[out->extents_cnt++] = (struct session_extent){
		.session = session,
		.end_ns = run->leave_ns,
		.queue_ns = run->enter_ns - from_ns,
		.open = run->open || run->leave_ns >= m->p->duration_ns,
	};
	run->matched = true;
	run->session = session;
	return 0;
}

/*
 * Finds keys that several tasks share at a time. Keys that are addresses are used again, also those
 * of tasks that were cancelled and never ran: matching first in, first out would then give each
 * later run the submit before its own. So a key counts as shared only if two runs have no submit
 * between them. Example: submit A, submit A, run A, run A is shared; submit A (cancelled), submit
 * A, run A is not.
 */
static void find_shared_keys(struct matcher *m, const uint32_t *order, struct link_queue *queues,
			     size_t mask)
{
	for (size_t i = 0; i < m->events_cnt; i++) {
		const struct link_event *e = &m->events[order[i]];
		struct link_queue *q = queue_of(queues, mask, e);

		if (!e->runs) {
			q->last = order[i];
			q->waits = true;
		} else if (q->waits && m->events[q->last].call != e->call) {
			q->waits = false;
		} else {
			/* Runs before all submits are of tasks from before the start. */
			q->shared |= q->last != NONE;
		}
	}
}

static int match_events(struct matcher *m)
{
	size_t size = 16;
	uint32_t *order = sort_events(m);
	struct link_queue *queues;
	int err = 0;

	while (size < m->events_cnt + m->events_cnt / 2)
		size *= 2;
	queues = calloc(size, sizeof(*queues));
	if (!order || !queues)
		err = -ENOMEM;
	else
		find_shared_keys(m, order, queues, size - 1);
	for (size_t i = 0; i < m->events_cnt && !err; i++) {
		struct link_event *e = &m->events[order[i]], *submit;
		struct link_queue *q = queue_of(queues, size - 1, e);

		if (!e->runs) {
			if (!q->shared)
				q->first = NONE;
			push(m->events, q, order[i]);
			continue;
		}
		submit = q->first == NONE ? NULL : &m->events[q->first];
		/* A call that is both does not wait for itself. */
		if (!submit || submit->call == e->call)
			continue;
		q->first = submit->next;
		err = add_part(m, e, submit);
	}
	free(order);
	free(queues);
	return err;
}

static int compare_parts(const void *a, const void *b)
{
	const struct session_part *x = a, *y = b;

	if (x->call != y->call)
		return x->call < y->call ? -1 : 1;
	return x->session < y->session ? -1 : x->session > y->session;
}

static int compare_extents(const void *a, const void *b)
{
	const struct session_extent *x = a, *y = b;

	return x->session < y->session ? -1 : x->session > y->session;
}

/* Makes one extent of those of one session, and one part of a call that is several. */
static void sort_parts(struct session_parts *s)
{
	size_t cnt = 0;

	if (s->parts_cnt)
		qsort(s->parts, s->parts_cnt, sizeof(*s->parts), compare_parts);
	if (s->extents_cnt)
		qsort(s->extents, s->extents_cnt, sizeof(*s->extents), compare_extents);
	for (size_t i = 0; i < s->parts_cnt; i++) {
		if (!cnt || s->parts[cnt - 1].call != s->parts[i].call)
			s->parts[cnt++] = s->parts[i];
	}
	s->parts_cnt = cnt;
	cnt = 0;
	for (size_t i = 0; i < s->extents_cnt; i++) {
		const struct session_extent e = s->extents[i];
		struct session_extent *last = cnt ? &s->extents[cnt - 1] : NULL;

		if (!last || last->session != e.session) {
			s->extents[cnt++] = e;
			continue;
		}
		if (last->end_ns < e.end_ns)
			last->end_ns = e.end_ns;
		last->queue_ns += e.queue_ns;
		last->open |= e.open;
	}
	s->extents_cnt = cnt;
}

int session_links__match(const struct profile *p, const struct session_spec *spec, size_t max,
			 struct session_parts *out, struct session_link_stats *stats)
{
	struct matcher m = {
		.p = p,
		.stats = stats,
		.links_cnt = spec->links_cnt,
		.max = max < NONE ? max : NONE - 1,
		.out = out,
	};
	int err;

	*out = (struct session_parts){0};
	err = resolve_links(&m, spec->links);
	if (!err)
		err = session_walk(p, spec->functions, gather_step, &m);
	if (!err)
		err = match_events(&m);
	if (!err)
		sort_parts(out);
	for (size_t i = 0; m.sides && i < spec->links_cnt; i++) {
		free(m.sides[i].submits);
		free(m.sides[i].runs);
	}
	free(m.sides);
	free(m.events);
	free(m.around);
	return err;
}

struct session_extent *session_parts__extent(const struct session_parts *p, uint64_t session)
{
	size_t i = LOWER_BOUND(p->extents_cnt, n, p->extents[n].session < session);

	return i < p->extents_cnt && p->extents[i].session == session ? &p->extents[i] : NULL;
}
