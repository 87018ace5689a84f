// SPDX-License-Identifier: GPL-2.0-or-later
#include "sessions/critical_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/session_data.h"
#include "sessions/thread_calls.h"
#include "timeline/waits.h"
#include "util/array.h"

#define PARTS_MAX      4096 /* of a session */
#define DEPTH_MAX      16   /* threads that wait for each other */
#define RUN_PARTS      64   /* a call of the 64th part of a stretch is a part of its own */
#define POOL_FUNCTIONS 32   /* others are in none of the sums of a pool */

struct chain {
	const struct sessions *s;
	const struct waits *waits;
	const struct thread_calls *held;
	struct session *session;
	int err;
};

/* Whom the chain is at, and until when it is looked back. */
struct look {
	pid_t pid, tid;
	int64_t id; /* as of thread_calls__id() */
	const char *comm;
	uint64_t from_ns, to_ns;
	/* The thread's innermost call at `to_ns`, where none is held; UINT32_MAX: none is known. */
	uint32_t function;
	uint32_t caller; /* of that call; UINT32_MAX: none is known */
	uint32_t depth;
	bool queued;
	const struct single_wait *ends; /* the wait that it ends; NULL: none */
	const struct single_wait *root; /* of the session's own thread, as at depth 1; else NULL */
};

static bool same_cause(const struct chain_cause *a, const struct chain_cause *b)
{
	return a->reason == b->reason && a->kind == b->kind &&
	       !wait_object__compare(a->object, a->object_name, b->object, b->object_name);
}

/* Puts a part before those that there are; the chain is turned round in the end. */
static void add(struct chain *c, struct chain_part part)
{
	struct session *session = c->session;
	struct chain_part *last =
		session->chain_cnt ? &session->chain[session->chain_cnt - 1] : NULL;

	if (part.from_ns >= part.to_ns || c->err)
		return;
	if (last && last->pid == part.pid && last->tid == part.tid && last->runs == part.runs &&
	    last->function == part.function && last->caller == part.caller &&
	    last->reason == part.reason &&
	    !wait_object__compare(last->object, last->object_name, part.object, part.object_name) &&
	    last->depth == part.depth && last->queued == part.queued &&
	    last->root.reason == part.root.reason && last->root.kind == part.root.kind &&
	    last->root.object == part.root.object && same_cause(&last->held_up, &part.held_up)) {
		last->from_ns = part.from_ns;
		return;
	}
	if (last && session->chain_cnt == PARTS_MAX) {
		last->from_ns = part.from_ns;
		return;
	}
	if (ARRAY_RESERVE(&session->chain, session->chain_cnt, &session->chain_cap)) {
		c->err = -ENOMEM;
		return;
	}
	session->chain[session->chain_cnt++] = part;
}

static struct chain_cause cause_of(const struct single_wait *w)
{
	return (struct chain_cause){w->reason, w->kind, w->object, w->object_name};
}

static struct chain_part part_of(const struct look *l, uint64_t from_ns, uint64_t to_ns)
{
	struct chain_part part = {
		.from_ns = from_ns,
		.to_ns = to_ns,
		.pid = l->pid,
		.tid = l->tid,
		.function = l->function,
		.caller = l->caller,
		.depth = l->depth,
		.queued = l->queued,
	};

	if (l->root)
		part.root = cause_of(l->root);
	if (l->ends)
		part.held_up = cause_of(l->ends);
	strncpy(part.comm, l->comm, sizeof(part.comm) - 1);
	return part;
}

static void set_cause(struct chain_part *part, const struct single_wait *w)
{
	part->reason = w->reason;
	part->kind = w->kind;
	part->object = w->object;
	part->object_name = w->object_name;
}

/* Stretches that follow each other, each too short to be a part of its own. */
struct pool {
	uint64_t from_ns, to_ns; /* the same: none */
	struct held_place places[POOL_FUNCTIONS];
	uint64_t ns[POOL_FUNCTIONS];
	size_t cnt;
};

static void add_stretch(struct chain *c, const struct look *l, const struct held_place *place,
			uint64_t from_ns, uint64_t to_ns)
{
	struct chain_part part = part_of(l, from_ns, to_ns);

	part.runs = true;
	part.function = place->function;
	part.caller = place->caller;
	if (l->ends)
		set_cause(&part, l->ends);
	add(c, part);
}

static void pool_add(struct pool *pool, const struct held_place *place, uint64_t from_ns,
		     uint64_t to_ns)
{
	size_t i = 0;

	if (pool->from_ns == pool->to_ns)
		*pool = (struct pool){.to_ns = to_ns};
	pool->from_ns = from_ns;
	while (i < pool->cnt && pool->places[i].function != place->function)
		i++;
	if (i == POOL_FUNCTIONS)
		return;
	pool->places[i] = *place;
	pool->ns[i] += to_ns - from_ns;
	pool->cnt += i == pool->cnt;
}

static void pool_flush(struct chain *c, const struct look *l, struct pool *pool)
{
	size_t most = 0;

	for (size_t i = 1; i < pool->cnt; i++)
		most = pool->ns[i] > pool->ns[most] ? i : most;
	if (pool->from_ns < pool->to_ns)
		add_stretch(c, l, &pool->places[most], pool->from_ns, pool->to_ns);
	*pool = (struct pool){0};
}

/* A stretch in which the thread ran, by the calls that it was in. */
static void add_run(struct chain *c, const struct look *l, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t part_ns = to_ns > from_ns ? (to_ns - from_ns) / RUN_PARTS : 0;
	struct pool pool = {0};

	for (uint64_t at_ns = to_ns; at_ns > from_ns && !c->err;) {
		struct held_place place = thread_calls__before(c->held, l->pid, l->id, at_ns);
		uint64_t since_ns = place.since_ns > from_ns ? place.since_ns : from_ns;

		if (!place.since_ns && place.function == UINT32_MAX) {
			place.function = l->function;
			place.caller = l->caller;
		}
		if (at_ns - since_ns >= part_ns) {
			pool_flush(c, l, &pool);
			add_stretch(c, l, &place, since_ns, at_ns);
		} else {
			pool_add(&pool, &place, since_ns, at_ns);
		}
		at_ns = since_ns;
	}
	pool_flush(c, l, &pool);
}

static void add_wait(struct chain *c, const struct look *l, uint64_t from_ns, uint64_t to_ns,
		     const struct single_wait *w, uint32_t reason)
{
	struct chain_part part = part_of(l, from_ns, to_ns);

	if (reason == w->reason)
		set_cause(&part, w);
	part.reason = reason;
	add(c, part);
}

static uint64_t within(uint64_t at, uint64_t from, uint64_t to)
{
	return at < from ? from : at > to ? to : at;
}

static void look_back(struct chain *c, struct look l);

/* Adds the parts that a wait consists of, as far as it lies in [from_ns, to_ns). */
static void look_into(struct chain *c, const struct look *l, const struct single_wait *w,
		      uint64_t from_ns, uint64_t to_ns)
{
	uint64_t woken_ns = within(single_wait__woken_ns(w), from_ns, to_ns);
	const struct wait_party *waker = w->waker ? &c->waits->parties[w->waker - 1] : NULL;

	if (w->reason == WAIT_CPU)
		woken_ns = from_ns;
	add_wait(c, l, woken_ns, to_ns, w, WAIT_CPU);
	if (woken_ns <= from_ns)
		return;
	if (!waker || l->depth == DEPTH_MAX || (waker->pid == l->pid && waker->tid == l->tid)) {
		add_wait(c, l, from_ns, woken_ns, w, w->reason);
		return;
	}
	look_back(c, (struct look){
			     .pid = waker->pid,
			     .tid = waker->tid,
			     .id = waker->tid,
			     .comm = waker->comm,
			     .from_ns = from_ns,
			     .to_ns = woken_ns,
			     .function = waits__function(c->waits, w->waker_path),
			     .caller = waits__caller(c->waits, w->waker_path),
			     .depth = l->depth + 1,
			     .ends = w,
			     .root = l->root ? l->root : w,
		     });
}

static void look_back(struct chain *c, struct look l)
{
	const struct wait_party *party = waits__party(c->waits, l.pid, l.tid);
	uint64_t at_ns = l.to_ns;

	while (at_ns > l.from_ns && !c->err) {
		const struct single_wait *w = party ? waits__before(c->waits, party, at_ns) : NULL;
		uint64_t end_ns, begin_ns;

		if (!w || w->end_ns <= l.from_ns) {
			add_run(c, &l, l.from_ns, at_ns);
			return;
		}
		end_ns = w->end_ns < at_ns ? w->end_ns : at_ns;
		begin_ns = w->begin_ns > l.from_ns ? w->begin_ns : l.from_ns;
		add_run(c, &l, end_ns, at_ns);
		l.function = waits__function(c->waits, w->path);
		l.caller = waits__caller(c->waits, w->path);
		look_into(c, &l, w, begin_ns, end_ns);
		at_ns = begin_ns;
	}
}

/* The outermost call of the session that is open right before `at_ns`, the one that has begun last;
 * NULL: none is. */
static const struct session_call *part_before(const struct session *session, uint64_t at_ns)
{
	const struct session_call *found = NULL;

	for (size_t i = 0; i < session->calls_cnt; i++) {
		const struct session_call *call = &session->calls[i];

		if (!call->caller && call->enter_ns < at_ns && call->leave_ns >= at_ns &&
		    (!found || call->enter_ns > found->enter_ns))
			found = call;
	}
	return found;
}

static struct look look_of(const struct chain *c, const struct session_call *call, uint64_t from_ns,
			   uint64_t to_ns)
{
	const struct profile_thread *t = &c->s->threads[call->thread];

	return (struct look){
		.pid = t->pid,
		.tid = t->tid,
		.id = thread_calls__id(t),
		.comm = t->comm,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.function = c->s->paths[call->path].function,
		.caller = UINT32_MAX,
	};
}

/* From the end of the session's last part to its begin, then through the queue that it was in to
 * the part that has submitted it, and so on. */
static void follow_parts(struct chain *c)
{
	const struct session *session = c->session;
	uint64_t begin_ns = session->start_ns, at_ns = begin_ns + session->duration_ns;

	while (at_ns > begin_ns && !c->err) {
		const struct session_call *part = part_before(session, at_ns);
		struct look l = {.comm = "", .from_ns = begin_ns, .to_ns = at_ns};

		if (!part) { /* whose calls are missing */
			l.function = l.caller = UINT32_MAX;
			add_run(c, &l, begin_ns, at_ns);
			return;
		}
		l = look_of(c, part, part->enter_ns > begin_ns ? part->enter_ns : begin_ns, at_ns);
		look_back(c, l);
		at_ns = l.from_ns;
		if (at_ns <= begin_ns || !part->queue_ns)
			continue;
		l.queued = true;
		l.to_ns = at_ns;
		l.from_ns = at_ns - begin_ns > part->queue_ns ? at_ns - part->queue_ns : begin_ns;
		look_back(c, l);
		at_ns = l.from_ns;
	}
}

static void turn_round(struct session *session)
{
	for (size_t i = 0, n = session->chain_cnt; i < n / 2; i++) {
		struct chain_part last = session->chain[n - 1 - i];

		session->chain[n - 1 - i] = session->chain[i];
		session->chain[i] = last;
	}
}

int critical_path__find(const struct sessions *s, const struct waits *w,
			const struct thread_calls *held, struct session *session)
{
	struct chain c = {.s = s, .waits = w, .held = held, .session = session};

	if (session->calls_missing)
		return 0;
	follow_parts(&c);
	turn_round(session);
	return c.err;
}
