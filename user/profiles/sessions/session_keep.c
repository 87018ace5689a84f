// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A call can be in two sessions: that of its own thread, and one that a part around it continues.
 * It has a place in each.
 */
#include "sessions/session_keep.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/path_map.h"
#include "calls/profile.h"
#include "calls/session_data.h"
#include "calls/values.h"
#include "sessions/session_links.h"
#include "sessions/session_spec.h"
#include "sessions/session_waits.h"
#include "sessions/session_walk.h"
#include "sessions/thread_calls.h"
#include "timeline/timeline.h"
#include "util/array.h"
#include "util/search.h"

#define CALLS_MAX 2000000 /* of all kept sessions */
#define PATHS_MAX 4000000

/* A call's place in its session. */
struct place {
	bool in;
	bool slow, usual, worst;
	uint32_t path;	      /* of the call */
	uint32_t sum_path;    /* whose sums its time is in: the same, or its caller's */
	struct session *kept; /* NULL: it is not */
	uint32_t call;	      /* in its calls, from 1 on; 0: there was no room */
	uint64_t self_ns;     /* the call's time, less that of its callees so far */
	uint64_t off_ns;      /* of that, off the CPU */
};

struct keep_frame {
	struct place own, linked;
};

struct session_keeper {
	const struct profile *p;
	const struct session_spec *spec;
	const struct session_parts *parts;
	struct sessions *s;
	struct session **kept; /* by number */
	size_t kept_cnt, calls_cnt, next_part;
	struct path_map map;
	size_t map_size, paths_cap;
	struct session_waits waits;
	bool *partly; /* by function: it was not traced all the time that sessions span */
	struct keep_frame *frames; /* by depth */
	size_t frames_cap;
};

struct session_group *sessions__group(const struct sessions *s, uint32_t function)
{
	return &s->groups[LOWER_BOUND(s->groups_cnt, i, s->groups[i].function < function)];
}

bool session__is_open(const struct profile *p, const struct session_spec *spec,
		      const struct timeline_call *call, const struct session_extent *e)
{
	return call->open || call->leave_ns >= p->duration_ns ||
	       (spec->cut_at_start && !call->enter_ns) || (e && e->open);
}

static int compare_numbers(const void *a, const void *b)
{
	const struct session *x = *(struct session *const *)a, *y = *(struct session *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int list_kept(struct session_keeper *k)
{
	size_t cnt = 0;

	for (size_t i = 0; i < k->s->groups_cnt; i++)
		cnt += k->s->groups[i].slowest_cnt + k->s->groups[i].sample_cnt;
	k->kept = calloc(cnt + 1, sizeof(struct session *));
	if (!k->kept)
		return -ENOMEM;
	for (size_t i = 0; i < k->s->groups_cnt; i++) {
		struct session_group *g = &k->s->groups[i];

		for (size_t n = 0; n < g->slowest_cnt; n++)
			k->kept[k->kept_cnt++] = &g->slowest[n];
		for (size_t n = 0; n < g->sample_cnt; n++)
			k->kept[k->kept_cnt++] = &g->sample[n];
	}
	qsort(k->kept, k->kept_cnt, sizeof(struct session *), compare_numbers);
	return 0;
}

static struct session *find_kept(const struct session_keeper *k, uint64_t number)
{
	size_t i = LOWER_BOUND(k->kept_cnt, n, k->kept[n]->number < number);

	return i < k->kept_cnt && k->kept[i]->number == number ? k->kept[i] : NULL;
}

static struct path_step step_of(const struct session_path *path)
{
	return path_step(path->parent, 0, path->function);
}

static int grow_map(struct session_keeper *k)
{
	struct path_map grown;

	if (path_map__init(&grown, k->map_size * 2))
		return -ENOMEM;
	for (uint32_t i = 1; i < k->s->paths_cnt; i++)
		*path_map__at(&grown, step_of(&k->s->paths[i])) = i;
	path_map__fini(&k->map);
	k->map = grown;
	k->map_size *= 2;
	return 0;
}

/* Sets *path; to 0 if there is no room. Returns 0 or -ENOMEM. */
static int find_path(struct session_keeper *k, uint32_t parent, uint32_t function, uint32_t *path)
{
	struct sessions *s = k->s;
	uint32_t *at;

	if (s->paths_cnt >= k->map_size && grow_map(k))
		return -ENOMEM;
	at = path_map__at(&k->map, path_step(parent, 0, function));
	*path = *at;
	if (*at || s->paths_cnt == PATHS_MAX)
		return 0;
	if (ARRAY_RESERVE(&s->paths, s->paths_cnt, &k->paths_cap))
		return -ENOMEM;
	s->paths[s->paths_cnt] = (struct session_path){.parent = parent, .function = function};
	*path = *at = s->paths_cnt++;
	return 0;
}

/* Appends the call to a kept session. */
static int keep_call(struct session_keeper *k, const struct session_step *step, struct place *at,
		     uint32_t caller)
{
	struct session *session = at->kept;
	uint64_t took_ns = step->call->leave_ns - step->call->enter_ns;
	struct session_call *c;

	at->call = caller;
	if (k->calls_cnt == CALLS_MAX) {
		session->calls_missing++;
		return 0;
	}
	if (ARRAY_RESERVE(&session->calls, session->calls_cnt, &session->calls_cap))
		return -ENOMEM;
	c = &session->calls[session->calls_cnt];
	*c = (struct session_call){
		.path = at->path,
		.caller = caller,
		.thread = step->thread,
		.enter_ns = step->call->enter_ns,
		.leave_ns = step->call->leave_ns,
		.off_ns = at->off_ns,
		.number = step->number,
	};
	c->values_cnt = step->call->values_cnt;
	c->values = call_values__copy(step->call->values, c->values_cnt);
	if (c->values_cnt && !c->values) {
		c->values_cnt = 0;
		return -ENOMEM;
	}
	if (caller) {
		session->calls[caller - 1].inside_ns += took_ns;
		session->calls[caller - 1].inside_off_ns += at->off_ns;
	}
	k->calls_cnt++;
	at->call = ++session->calls_cnt;
	return 0;
}

/* Takes a callee's time from its caller's path, or gives it to its own. */
static void charge(struct session_path *path, const struct place *at, uint64_t ns, uint64_t off_ns)
{
	if (at->slow) {
		path->slow_ns += ns;
		path->slow_off_ns += off_ns;
	}
	if (at->usual) {
		path->usual_ns += ns;
		path->usual_off_ns += off_ns;
	}
	if (at->worst) {
		path->worst_ns += ns;
		path->worst_off_ns += off_ns;
	}
}

/* A callee's time off the CPU, which its caller's is less by. What does not fit into the rest of
 * the caller's time was the callee's, whatever it says. */
static uint64_t take_off(struct place *around, uint64_t took_ns, uint64_t off_ns)
{
	if (off_ns > around->off_ns)
		off_ns = around->off_ns;
	around->self_ns -= took_ns < around->self_ns ? took_ns : around->self_ns;
	if (around->off_ns - off_ns > around->self_ns)
		off_ns = around->off_ns - around->self_ns;
	around->off_ns -= off_ns;
	return off_ns;
}

/* The path of the call, and the one whose sums it is in; 0: there is no room. */
static int find_paths(struct session_keeper *k, uint32_t function, bool joins,
		      const struct place *at, uint32_t *path, uint32_t *sum_path)
{
	int err = 0;

	*sum_path = at->sum_path;
	if (!joins)
		err = find_path(k, at->sum_path, function, sum_path);
	*path = *sum_path;
	if (!err && at->kept && (joins || at->path != at->sum_path))
		err = find_path(k, at->path, function, path);
	return err;
}

/* The place of a call in the session that `at` is a place of; `around` is its caller there, or
 * NULL: it is outermost. What there is no room for is part of its caller. */
static int enter_place(struct session_keeper *k, const struct session_step *step, struct place *at,
		       struct place *around)
{
	uint64_t took_ns = step->call->leave_ns - step->call->enter_ns;
	uint64_t off_ns = step->call->off_ns < took_ns ? step->call->off_ns : took_ns;
	uint32_t caller = around ? around->call : 0, path, sum_path;
	bool joins = around && k->partly[step->function];
	int err = find_paths(k, step->function, joins, at, &path, &sum_path);

	if (err)
		return err;
	if (!path || !sum_path) {
		at->off_ns = 0;
		if (at->kept)
			at->kept->calls_missing++;
		return 0;
	}
	if (around) {
		off_ns = take_off(around, took_ns, off_ns);
		if (!joins)
			charge(&k->s->paths[at->sum_path], at, -took_ns, -off_ns);
	}
	at->path = path;
	at->sum_path = sum_path;
	at->self_ns = took_ns;
	at->off_ns = off_ns;
	if (!joins) {
		charge(&k->s->paths[sum_path], at, took_ns, off_ns);
		k->s->paths[sum_path].worst_calls += at->worst;
		k->s->paths[sum_path].usual_calls += at->usual;
	}
	return at->kept ? keep_call(k, step, at, caller) : 0;
}

/* A session is slow if nine in ten took less. If the longest took no longer than those, as with few
 * sessions, the longest is slow. */
static bool is_slow(const struct session_group *g, uint64_t duration_ns)
{
	return duration_ns > g->p90_ns || duration_ns == g->max_ns;
}

/* The place of a session's own call; the session took `duration_ns`. */
static struct place begin_place(const struct session_keeper *k, uint64_t number, uint32_t function,
				uint64_t duration_ns)
{
	const struct session_group *g = sessions__group(k->s, function);

	return (struct place){
		.in = true,
		.slow = is_slow(g, duration_ns),
		.usual = duration_ns <= g->p50_ns,
		.worst = duration_ns >= g->p99_ns,
		.kept = find_kept(k, number),
	};
}

/* Counts the session in its group, as slow or as usual. */
static void count_session(const struct session_keeper *k, const struct session_step *step,
			  uint64_t duration_ns, uint64_t queue_ns)
{
	struct session_group *g = sessions__group(k->s, step->function);

	if (is_slow(g, duration_ns)) {
		g->slow_cnt++;
		g->slow_total_ns += duration_ns;
		g->slow_queue_ns += queue_ns;
	}
	if (duration_ns <= g->p50_ns) {
		g->usual_cnt++;
		g->usual_total_ns += duration_ns;
		g->usual_queue_ns += queue_ns;
	}
	if (duration_ns >= g->p99_ns) {
		g->worst_cnt++;
		g->worst_total_ns += duration_ns;
		g->worst_queue_ns += queue_ns;
	}
}

static int enter_own(struct session_keeper *k, const struct session_step *step, struct place *at,
		     struct place *around)
{
	const struct session_extent *e;
	uint64_t duration_ns = step->call->leave_ns - step->call->enter_ns;

	if (!step->begins) {
		*at = around ? *around : (struct place){0};
		return at->in ? enter_place(k, step, at, around) : 0;
	}
	e = session_parts__extent(k->parts, step->session);
	*at = (struct place){0};
	if (session__is_open(k->p, k->spec, step->call, e))
		return 0;
	if (e)
		duration_ns = e->duration_ns;
	count_session(k, step, duration_ns, e ? e->queue_ns : 0);
	*at = begin_place(k, step->session, step->function, duration_ns);
	if (!at->kept && !at->slow && !at->usual && !at->worst)
		at->in = false;
	return at->in ? enter_place(k, step, at, NULL) : 0;
}

/* The part that the call is, if it is one that is not in its place already. */
static const struct session_part *part_of(struct session_keeper *k, uint64_t call)
{
	const struct session_parts *p = k->parts;
	const struct session_part *part;

	while (k->next_part < p->parts_cnt && p->parts[k->next_part].call < call)
		k->next_part++;
	part = k->next_part < p->parts_cnt ? &p->parts[k->next_part] : NULL;
	return part && part->call == call && !part->inside ? part : NULL;
}

static int enter_linked(struct session_keeper *k, const struct session_step *step, struct place *at,
			struct place *around)
{
	const struct session_part *part = part_of(k, step->number);
	const struct session_extent *e;
	struct session_call *c;
	int err;

	if (!part) {
		*at = around ? *around : (struct place){0};
		return at->in ? enter_place(k, step, at, around) : 0;
	}
	e = session_parts__extent(k->parts, part->session);
	*at = (struct place){0};
	if (!e || !e->ended)
		return 0;
	*at = begin_place(k, part->session, e->function, e->duration_ns);
	/* Parts hang below the session's own call. */
	at->path = at->sum_path = sessions__group(k->s, e->function)->path;
	err = enter_place(k, step, at, NULL);
	if (err || !at->kept || !at->call)
		return err;
	c = &at->kept->calls[at->call - 1];
	c->submit = part->submit;
	c->queue_ns = part->queue_ns;
	return 0;
}

/* Waits on the thread up to then have been in the call of that depth. */
static int take_waits(struct session_keeper *k, const struct session_step *step, uint64_t at_ns,
		      uint32_t open)
{
	const struct single_wait *wait;
	int err = 0;

	session_waits__turn(&k->waits, step->thread);
	while (!err && (wait = session_waits__next(&k->waits, at_ns))) {
		const struct keep_frame *f = open ? &k->frames[open - 1] : NULL;

		if (f && f->own.in)
			err = session_waits__add(&k->waits, k->s, f->own.sum_path, wait,
						 f->own.worst, f->own.usual);
		if (!err && f && f->linked.in)
			err = session_waits__add(&k->waits, k->s, f->linked.sum_path, wait,
						 f->linked.worst, f->linked.usual);
	}
	return err;
}

static int leave_step(const struct session_step *step, void *ctx)
{
	return take_waits(ctx, step, step->call->leave_ns, step->depth + 1);
}

static int keep_step(const struct session_step *step, void *ctx)
{
	struct session_keeper *k = ctx;
	struct keep_frame *f, *around;
	int err;

	if (ARRAY_RESERVE(&k->frames, step->depth, &k->frames_cap))
		return -ENOMEM;
	err = take_waits(k, step, step->call->enter_ns, step->depth);
	if (err)
		return err;
	f = &k->frames[step->depth];
	around = step->depth ? f - 1 : NULL;
	err = enter_own(k, step, &f->own, around ? &around->own : NULL);
	if (!err)
		err = enter_linked(k, step, &f->linked, around ? &around->linked : NULL);
	return err;
}

/* Finds functions that were dropped amid the sessions, or have come back. */
static int find_partly(struct session_keeper *k)
{
	const struct profile *p = k->p;
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	k->partly = calloc(p->functions_cnt + 1, sizeof(*k->partly));
	if (!k->partly)
		return -ENOMEM;
	for (size_t i = 0; i < k->s->groups_cnt; i++) {
		const struct session_group *g = &k->s->groups[i];

		if (g->count && g->first_ns < first_ns)
			first_ns = g->first_ns;
		if (g->last_ns > last_ns)
			last_ns = g->last_ns;
	}
	for (size_t i = 0; i < p->drops_cnt; i++) {
		const struct profile_drop *d = &p->drops[i];

		if (d->function < p->functions_cnt && d->at_ns < last_ns &&
		    (!d->back_ns || d->back_ns > first_ns))
			k->partly[d->function] = true;
	}
	return 0;
}

/* Room for paths, and those of the sessions' own calls. */
static int prepare(struct session_keeper *k)
{
	int err = list_kept(k);

	if (!err)
		err = find_partly(k);
	if (!err)
		err = session_waits__init(&k->waits, k->p);
	k->map_size = 1024;
	if (!err)
		err = path_map__init(&k->map, k->map_size);
	if (!err && ARRAY_RESERVE(&k->s->paths, 0, &k->paths_cap))
		err = -ENOMEM;
	if (err)
		return err;
	k->s->paths[0] = (struct session_path){0};
	k->s->paths_cnt = 1;
	for (size_t i = 0; i < k->s->groups_cnt && !err; i++)
		err = find_path(k, 0, k->s->groups[i].function, &k->s->groups[i].path);
	return err;
}

/* Holds the calls of all threads in kept sessions, and while the slowest sessions waited. */
static int hold_calls(struct session_keeper *k, struct thread_calls *held)
{
	struct time_window *windows = calloc(k->kept_cnt + k->waits.late_cnt + 1, sizeof(*windows));
	int err = windows ? 0 : -ENOMEM;

	for (size_t i = 0; i < k->kept_cnt && !err; i++)
		windows[i] = (struct time_window){k->kept[i]->start_ns,
						  k->kept[i]->start_ns + k->kept[i]->duration_ns};
	if (!err) {
		session_waits__windows(&k->waits, &windows[k->kept_cnt]);
		err = thread_calls__read(k->p, windows, k->kept_cnt + k->waits.late_cnt, held);
	}
	free(windows);
	return err;
}

int sessions__keep(const struct profile *p, const struct session_spec *spec,
		   const struct session_parts *parts, struct sessions *s, struct thread_calls *held)
{
	struct session_keeper k = {.p = p, .spec = spec, .parts = parts, .s = s};
	int err = prepare(&k);

	if (!err)
		err = session_walk_both(p, spec->functions, keep_step, leave_step, &k);
	if (!err && p->waits)
		err = hold_calls(&k, held);
	if (!err)
		err = session_waits__finish(&k.waits, s, held);
	path_map__fini(&k.map);
	session_waits__fini(&k.waits);
	free(k.kept);
	free(k.frames);
	free(k.partly);
	return err;
}
