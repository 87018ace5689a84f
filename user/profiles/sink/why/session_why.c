// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All time of a session is either in calls, which run or do not, or in queues. What runs is a part
 * by function; what does not is one by what was waited for, whoever has ended that, and wherever;
 * and the time off the CPU that no recorded wait has. So the parts add up.
 */
#include "sink/why/session_why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/session_data.h"
#include "sink/names.h"
#include "sink/why/session_behind.h"
#include "sink/why/session_ranks.h"
#include "sink/why/why_part.h"
#include "timeline/waits.h"
#include "util/array.h"

#define TELLING_PART 20 /* a part that is told is at least the 20th of the whole */

struct finder {
	const struct profile *p;
	const struct session_ranks *r;
	const struct session_group *g;
	struct session_why *why;
	/* By function: its part of each kind, from 1 on; and its calls, means. */
	uint32_t *runs, *shorts;
	double *worst_calls, *usual_calls;
	const struct session_wait **waits; /* those of the group, by what they wait for */
	size_t waits_cnt;
	bool parked; /* what is off the CPU without a wait is parked */
};

static double mean(uint64_t sum, uint64_t cnt)
{
	return cnt ? (double)sum / (double)cnt : 0;
}

static struct why_part *add_part(struct finder *f, struct why_part part)
{
	struct session_why *w = f->why;

	if (ARRAY_RESERVE(&w->parts, w->cnt, &w->cap))
		return NULL;
	w->parts[w->cnt] = part;
	return &w->parts[w->cnt++];
}

/* Whether sessions are goroutines': these wait on no thread. */
static bool is_parked(const struct finder *f)
{
	const struct sessions *s = f->r->s;
	uint32_t thread = f->g->slowest_cnt ? f->g->slowest[0].thread : UINT32_MAX;

	return thread < s->threads_cnt && s->threads[thread].goroutine;
}

/* The next caller of a path that is not of Go's runtime; UINT32_MAX: there is none. */
static uint32_t own_caller(const struct finder *f, uint32_t path)
{
	static const char *const of_go[] = {"runtime.", "sync.", "internal/"};
	const struct session_path *paths = f->r->s->paths;

	while (path && path != f->g->path) {
		const char *name;
		bool is_go = false;

		path = paths[path].parent;
		name = function__name(&f->p->functions[paths[path].function]);
		for (size_t i = 0; path && i < sizeof(of_go) / sizeof(of_go[0]); i++)
			is_go |= !strncmp(name, of_go[i], strlen(of_go[i]));
		if (path && !is_go)
			return paths[path].function;
	}
	return UINT32_MAX;
}

/* A part whose time is off the CPU without a wait, of which one path has that much. */
static void note_short(struct finder *f, uint32_t path, double worst_ns)
{
	struct why_part *part = &f->why->parts[f->shorts[f->r->s->paths[path].function] - 1];

	part->parked = f->parked;
	if (!part->parked || worst_ns < part->waker_ns)
		return;
	part->waker_ns = worst_ns; /* the most of one path so far */
	part->caller = own_caller(f, path);
}

static int add_time(struct finder *f, uint32_t *number, enum why_kind kind, uint32_t function,
		    double worst_ns, double usual_ns)
{
	struct why_part *part = *number ? &f->why->parts[*number - 1] : NULL;

	if (!part) {
		part = add_part(f, (struct why_part){.kind = kind,
						     .function = function,
						     .caller = UINT32_MAX});
		if (!part)
			return -ENOMEM;
		*number = f->why->cnt;
	}
	part->worst_ns += worst_ns;
	part->usual_ns += usual_ns;
	return 0;
}

/* Splits a path's own time, less its waits, into running and being off the CPU. */
static void split(uint64_t own_ns, uint64_t off_ns, uint64_t waited_ns, uint64_t *run_ns,
		  uint64_t *short_ns)
{
	if (waited_ns > own_ns)
		waited_ns = own_ns;
	if (off_ns < waited_ns)
		off_ns = waited_ns;
	*run_ns = own_ns > off_ns ? own_ns - off_ns : 0;
	*short_ns = own_ns - *run_ns - waited_ns;
}

static int add_paths(struct finder *f)
{
	const struct session_group *g = f->g;
	int err = 0;

	for (uint32_t i = 1; i < f->r->s->paths_cnt && !err; i++) {
		const struct session_path *p = &f->r->s->paths[i];
		uint64_t worst_run, worst_short, usual_run, usual_short;

		if (f->r->roots[i] != g->path)
			continue;
		split(p->worst_ns, p->worst_off_ns, p->worst_waited_ns, &worst_run, &worst_short);
		split(p->usual_ns, p->usual_off_ns, p->usual_waited_ns, &usual_run, &usual_short);
		f->worst_calls[p->function] += mean(p->worst_calls, g->worst_cnt);
		f->usual_calls[p->function] += mean(p->usual_calls, g->usual_cnt);
		err = add_time(f, &f->runs[p->function], WHY_RUN, p->function,
			       mean(worst_run, g->worst_cnt), mean(usual_run, g->usual_cnt));
		if (!err)
			err = add_time(f, &f->shorts[p->function], WHY_SHORT, p->function,
				       mean(worst_short, g->worst_cnt),
				       mean(usual_short, g->usual_cnt));
		if (!err)
			note_short(f, i, (double)worst_short);
	}
	return err;
}

/* An object with a name is told by that, whether it was waited for as a mutex or as another futex.
 */
static uint32_t kind_of(const struct session_wait *w)
{
	return w->object_name && w->kind == WAIT_OBJECT_LOCK ? WAIT_OBJECT_FUTEX : w->kind;
}

static int compare_objects(const struct session_wait *x, const struct session_wait *y)
{
	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	if (kind_of(x) != kind_of(y))
		return kind_of(x) < kind_of(y) ? -1 : 1;
	return wait_object__compare(x->object, x->object_name, y->object, y->object_name);
}

static int compare_waits(const void *a, const void *b)
{
	const struct session_wait *x = *(const struct session_wait *const *)a;
	const struct session_wait *y = *(const struct session_wait *const *)b;

	return compare_objects(x, y) ?: (x > y) - (x < y);
}

static bool same_waker(const struct session_wait *x, const struct session_wait *y)
{
	return x->waker_function == y->waker_function && !x->waker_pid == !y->waker_pid;
}

/* The caller of a wait's path that tells more than its function; UINT32_MAX: none does. The
 * session's own function is told anyway, but where the wait's has no name. */
static uint32_t telling_caller(const struct finder *f, const struct session_wait *w)
{
	const struct session_path *paths = f->r->s->paths;
	const struct profile_function *function = &f->p->functions[paths[w->path].function];
	bool nameless = function__is_nameless(function);
	uint32_t at = w->path;

	if (w->reason != WAIT_POLL && !nameless)
		return UINT32_MAX;
	while (at != f->g->path && (at = paths[at].parent) && (nameless || at != f->g->path)) {
		if (!function__is_nameless(&f->p->functions[paths[at].function]))
			return paths[at].function;
	}
	return UINT32_MAX;
}

/* Who has ended most of the time of waits [from, to), and where most of it was. */
static void find_most(const struct finder *f, size_t from, size_t to, struct why_part *part)
{
	double most_ns = -1, place_ns = -1;

	for (size_t i = from; i < to; i++) {
		const struct session_wait *w = f->waits[i];
		uint32_t function = f->r->s->paths[w->path].function;
		double by_ns = 0, there_ns = 0;

		/* 256 waits tell enough, if there are many kinds of them, as with a thousand
		 * wakers. */
		for (size_t k = i; k < to && k < i + 256; k++) {
			const struct session_wait *o = f->waits[k];

			by_ns += same_waker(w, o) ? (double)o->worst_ns : 0;
			there_ns += f->r->s->paths[o->path].function == function
					    ? (double)o->worst_ns
					    : 0;
		}
		if (by_ns > most_ns) {
			most_ns = by_ns;
			part->wait = w;
		}
		if (there_ns > place_ns) {
			place_ns = there_ns;
			part->function = function;
			part->caller = telling_caller(f, w);
		}
	}
	part->waker_ns = mean((uint64_t)most_ns, f->g->worst_cnt);
}

/* Adds waits [from, to) as one part. */
static int add_waits(struct finder *f, size_t from, size_t to)
{
	struct why_part part = {.kind = WHY_WAIT, .object = true};

	for (size_t i = from; i < to; i++) {
		part.worst_ns += mean(f->waits[i]->worst_ns, f->g->worst_cnt);
		part.usual_ns += mean(f->waits[i]->usual_ns, f->g->usual_cnt);
		part.object &= !compare_objects(f->waits[i], f->waits[from]);
		if (!part.object_kind || f->waits[i]->kind == WAIT_OBJECT_FUTEX)
			part.object_kind = f->waits[i]->kind;
	}
	find_most(f, from, to, &part);
	return add_part(f, part) ? 0 : -ENOMEM;
}

/* Adds waits for one reason and kind of object, [from, to): each object that makes up a quarter of
 * their time at least is a part, and all others together are one. */
static int add_objects(struct finder *f, size_t from, size_t to)
{
	double all_ns = 0;
	size_t rest = from;
	int err = 0;

	for (size_t i = from; i < to; i++)
		all_ns += (double)f->waits[i]->worst_ns;
	for (size_t i = from, end; i < to && !err; i = end) {
		double ns = 0;

		for (end = i; end < to && !compare_objects(f->waits[i], f->waits[end]); end++)
			ns += (double)f->waits[end]->worst_ns;
		if (ns >= all_ns / 4) {
			err = add_waits(f, i, end);
			continue;
		}
		/* Waits for lesser objects move together, before those that have been added. */
		for (size_t k = i; k < end; k++)
			f->waits[rest++] = f->waits[k];
	}
	return err || rest == from ? err : add_waits(f, from, rest);
}

static int add_all_waits(struct finder *f)
{
	int err = 0;

	for (size_t i = 0; i < f->r->s->waits_cnt; i++) {
		const struct session_wait *w = &f->r->s->waits[i];

		if (f->r->roots[w->path] == f->g->path)
			f->waits[f->waits_cnt++] = w;
	}
	if (f->waits_cnt)
		qsort(f->waits, f->waits_cnt, sizeof(*f->waits), compare_waits);
	for (size_t i = 0, end; i < f->waits_cnt && !err; i = end) {
		for (end = i; end < f->waits_cnt && f->waits[end]->reason == f->waits[i]->reason &&
			      kind_of(f->waits[end]) == kind_of(f->waits[i]);)
			end++;
		err = add_objects(f, i, end);
	}
	return err;
}

/* Finds the stretch that the longest sessions waited in queues for most of the time, as far as
 * these sessions are kept, and what was called when it was over. */
static void look_into_queues(const struct finder *f, struct why_part *part)
{
	uint64_t most_ns = 0, queue_ns = 0;

	for (size_t i = 0; i < f->g->slowest_cnt; i++) {
		const struct session *session = &f->g->slowest[i];

		for (size_t n = 0; n < session->chain_cnt; n++) {
			const struct chain_part *c = &session->chain[n];

			if (!c->queued || c->to_ns - c->from_ns <= most_ns)
				continue;
			most_ns = c->to_ns - c->from_ns;
			part->queued = c;
		}
		for (size_t n = 0; n < session->calls_cnt; n++) {
			const struct session_call *c = &session->calls[n];

			if (c->queue_ns <= queue_ns)
				continue;
			queue_ns = c->queue_ns;
			part->function = f->r->s->paths[c->path].function;
		}
	}
}

static int add_queues(struct finder *f)
{
	const struct session_group *g = f->g;
	struct why_part part = {
		.kind = WHY_QUEUE,
		.function = g->function,
		.worst_ns = mean(g->worst_queue_ns, g->worst_cnt),
		.usual_ns = mean(g->usual_queue_ns, g->usual_cnt),
	};

	if (!g->worst_queue_ns && !g->usual_queue_ns)
		return 0;
	look_into_queues(f, &part);
	return add_part(f, part) ? 0 : -ENOMEM;
}

static int compare_parts(const void *a, const void *b)
{
	const struct why_part *x = a, *y = b;

	if (x->more_ns != y->more_ns)
		return x->more_ns > y->more_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static int find_parts(struct finder *f)
{
	struct session_why *w = f->why;
	size_t kept = 0;
	int err;

	f->parked = is_parked(f);
	err = add_paths(f);
	if (!err)
		err = add_all_waits(f);
	if (!err)
		err = add_queues(f);
	for (size_t i = 0; i < w->cnt && !err; i++) {
		struct why_part *part = &w->parts[i];

		if (part->worst_ns < 1 && part->usual_ns < 1)
			continue;
		part->more_ns = part->worst_ns - part->usual_ns;
		part->worst_calls = f->worst_calls[part->function];
		part->usual_calls = f->usual_calls[part->function];
		w->parts[kept++] = *part;
	}
	w->cnt = err ? 0 : kept;
	if (w->cnt)
		qsort(w->parts, w->cnt, sizeof(*w->parts), compare_parts);
	for (size_t i = 0; i < w->cnt; i++) {
		if (w->parts[i].kind == WHY_WAIT && w->parts[i].wait->waker_pid) {
			session_behind__find(f->g, &w->parts[i]);
			break;
		}
	}
	return err;
}

int session_why__find(const struct profile *p, const struct session_ranks *r,
		      const struct session_group *g, struct session_why *out)
{
	struct finder f = {
		.p = p,
		.r = r,
		.g = g,
		.why = out,
		.runs = calloc(p->functions_cnt + 1, sizeof(*f.runs)),
		.shorts = calloc(p->functions_cnt + 1, sizeof(*f.shorts)),
		.worst_calls = calloc(p->functions_cnt + 1, sizeof(*f.worst_calls)),
		.usual_calls = calloc(p->functions_cnt + 1, sizeof(*f.usual_calls)),
		.waits = calloc(r->s->waits_cnt + 1, sizeof(*f.waits)),
	};
	int err = -ENOMEM;

	*out = (struct session_why){0};
	out->longer_ns =
		mean(g->worst_total_ns, g->worst_cnt) - mean(g->usual_total_ns, g->usual_cnt);
	if (f.runs && f.shorts && f.worst_calls && f.usual_calls && f.waits)
		err = r->s->has_waits && out->longer_ns >= 1 ? find_parts(&f) : 0;
	free(f.runs);
	free(f.shorts);
	free(f.worst_calls);
	free(f.usual_calls);
	free(f.waits);
	return err;
}

void session_why__fini(struct session_why *w)
{
	free(w->parts);
	*w = (struct session_why){0};
}

size_t session_why__telling(const struct session_why *w)
{
	size_t cnt = 0;

	while (cnt < w->cnt && w->parts[cnt].more_ns >= 1 &&
	       w->parts[cnt].more_ns >= w->longer_ns / TELLING_PART)
		cnt++;
	return cnt;
}
