// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "sessions/thread_calls.h"
#include "sink/names.h"
#include "sink/text/lock_parties.h"
#include "timeline/waits.h"
#include "util/array.h"

#define PATH_SHOWN 4 /* functions of a path, the innermost */

/* Who has released locks. */
struct releases {
	const struct waits *w;
	/* By number of a wait: the function that has ended with a jump to what woke the thread,
	 * below the waker's path; UINT32_MAX: none. */
	uint32_t *jumped_from;
};

/* Waits for one lock, which lie together. */
struct run {
	const struct profile *p;
	const struct releases *releases;
	uint32_t *waits;
	size_t cnt;
	uint32_t number;
};

static pid_t pid_of(const struct waits *w, const struct single_wait *one)
{
	return w->parties[one->party].pid;
}

/* For qsort_r(): by process, address, and time. */
static int compare_waits(const void *a, const void *b, void *ctx)
{
	const struct waits *w = ctx;
	const struct single_wait *x = &w->all[*(const uint32_t *)a];
	const struct single_wait *y = &w->all[*(const uint32_t *)b];

	if (pid_of(w, x) != pid_of(w, y))
		return pid_of(w, x) < pid_of(w, y) ? -1 : 1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* By who waits where, and as what, or who releases from where. */
static int compare_waiters(const void *a, const void *b, void *ctx)
{
	const struct waits *w = ((const struct releases *)ctx)->w;
	const struct single_wait *x = &w->all[*(const uint32_t *)a];
	const struct single_wait *y = &w->all[*(const uint32_t *)b];

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->party != y->party)
		return x->party < y->party ? -1 : 1;
	return x->path < y->path ? -1 : x->path > y->path;
}

static int compare_releasers(const void *a, const void *b, void *ctx)
{
	const struct releases *r = ctx;
	const struct single_wait *x = &r->w->all[*(const uint32_t *)a];
	const struct single_wait *y = &r->w->all[*(const uint32_t *)b];
	uint32_t x_from = r->jumped_from[*(const uint32_t *)a];
	uint32_t y_from = r->jumped_from[*(const uint32_t *)b];

	if (x->waker != y->waker)
		return x->waker < y->waker ? -1 : 1;
	if (x->waker_path != y->waker_path)
		return x->waker_path < y->waker_path ? -1 : 1;
	return (x_from > y_from) - (x_from < y_from);
}

/* "pool: handle › take": the thread, and its innermost functions, of which `innermost` is one more
 * unless it is UINT32_MAX. */
static void name_party(const struct profile *p, uint32_t party, uint32_t path, uint32_t innermost,
		       char *name)
{
	uint32_t functions[PATH_SHOWN], cnt = 0;
	int len = snprintf(name, PATH_SIZE, "%s:", p->waits->parties[party].comm);

	if (innermost != UINT32_MAX)
		functions[cnt++] = innermost;
	for (; path && cnt < PATH_SHOWN; path = p->waits->paths[path - 1].parent)
		functions[cnt++] = waits__function(p->waits, path);
	if (!cnt)
		snprintf(name + len, PATH_SIZE - len, " outside of traced calls");
	for (uint32_t i = cnt; i-- > 0 && len < PATH_SIZE;)
		len += snprintf(name + len, PATH_SIZE - len, "%s%.64s", i + 1 < cnt ? " › " : " ",
				functions[i] < p->functions_cnt
					? function__name(&p->functions[functions[i]])
					: "?");
}

static uint64_t slept_ns(const struct single_wait *w)
{
	return single_wait__woken_ns(w) - w->begin_ns;
}

/* Waits in order of time. */
static uint64_t held_ns(const struct run *r)
{
	uint64_t sum = 0, until_ns = 0;

	for (size_t i = 0; i < r->cnt; i++) {
		const struct single_wait *w = &r->p->waits->all[r->waits[i]];
		uint64_t end_ns = single_wait__woken_ns(w);
		uint64_t begin_ns = w->begin_ns > until_ns ? w->begin_ns : until_ns;

		if (!w->waker || end_ns <= begin_ns)
			continue;
		sum += end_ns - begin_ns;
		until_ns = end_ns;
	}
	return sum;
}

/* Adds waits [first, end) of the run as one party. */
static int add_party(struct parties *t, const struct run *r, size_t first, size_t end,
		     bool releases)
{
	const struct waits *waits = r->p->waits;
	const struct single_wait *one = &waits->all[r->waits[first]];
	struct party *party;

	if (releases && !one->waker)
		return 0;
	if (ARRAY_RESERVE(&t->all, t->cnt, &t->cap))
		return -ENOMEM;
	party = &t->all[t->cnt++];
	*party = (struct party){.lock = r->number, .pid = pid_of(waits, one), .releases = releases};
	if (!releases && wait_object__role(one->kind))
		party->role = one->kind;
	for (size_t i = first; i < end; i++) {
		const struct single_wait *w = &waits->all[r->waits[i]];

		party->ns += slept_ns(w);
		party->cnt++;
		if (slept_ns(w) > party->longest_ns)
			party->longest_ns = slept_ns(w);
	}
	if (releases)
		name_party(r->p, one->waker - 1, one->waker_path,
			   r->releases->jumped_from[r->waits[first]], party->name);
	else
		name_party(r->p, one->party, one->path, UINT32_MAX, party->name);
	return 0;
}

static int add_parties(struct parties *t, const struct run *r, bool releases)
{
	int (*compare)(const void *, const void *, void *) =
		releases ? compare_releasers : compare_waiters;
	int err = 0;

	qsort_r(r->waits, r->cnt, sizeof(*r->waits), compare, (void *)r->releases);
	for (size_t i = 0, end; i < r->cnt && !err; i = end) {
		for (end = i;
		     end < r->cnt && !compare(&r->waits[i], &r->waits[end], (void *)r->releases);)
			end++;
		err = add_party(t, r, i, end, releases);
	}
	return err;
}

static int add_run(struct parties *t, const struct run *r)
{
	const struct single_wait *one = &r->p->waits->all[r->waits[0]];
	/* Nobody has a condition in hand. */
	uint64_t held = wait_object__is_held(one->kind) ? held_ns(r) : 0;
	enum lock_kind kind = wait_object__role(one->kind)    ? KIND_RWLOCK
			      : one->kind == WAIT_OBJECT_LOCK ? KIND_LOCK
							      : KIND_UNKNOWN;
	size_t first = t->cnt;
	int err = add_parties(t, r, false);

	if (!err)
		err = add_parties(t, r, true);
	for (size_t i = first; i < t->cnt; i++) {
		t->all[i].held_ns = held;
		t->all[i].kind = kind;
		wait_object__text(one->kind, one->object, one->object_name, t->all[i].label,
				  LABEL_SIZE);
	}
	return err;
}

static bool same_lock(const struct waits *w, uint32_t a, uint32_t b)
{
	return w->all[a].object == w->all[b].object &&
	       pid_of(w, &w->all[a]) == pid_of(w, &w->all[b]);
}

/* Looks at the calls that were under way while threads waited: of the waits order[]. */
static int find_jumps(struct releases *r, const struct profile *p, const uint32_t *order,
		      size_t cnt)
{
	struct time_window *windows = calloc(cnt + 1, sizeof(*windows));
	struct thread_calls held = {0};
	size_t windows_cnt = 0;
	int err = -ENOMEM;

	r->jumped_from = malloc((r->w->cnt + 1) * sizeof(*r->jumped_from));
	if (!windows || !r->jumped_from)
		goto out;
	memset(r->jumped_from, 0xff, (r->w->cnt + 1) * sizeof(*r->jumped_from));
	for (size_t i = 0; i < cnt; i++) {
		const struct single_wait *w = &r->w->all[order[i]];

		if (w->waker)
			windows[windows_cnt++] =
				(struct time_window){w->begin_ns, single_wait__woken_ns(w)};
	}
	err = thread_calls__read(p, windows, windows_cnt, &held);
	for (size_t i = 0; i < cnt && !err; i++) {
		if (r->w->all[order[i]].waker)
			r->jumped_from[order[i]] =
				thread_calls__jumped_from(&held, r->w, &r->w->all[order[i]]);
	}
out:
	thread_calls__fini(&held);
	free(windows);
	return err;
}

int single_locks__add(struct parties *t, const struct profile *p)
{
	const struct waits *w = p->waits;
	struct releases releases = {.w = w};
	uint32_t *order = calloc(w->cnt + 1, sizeof(*order)), locks = 0;
	size_t cnt = 0;
	int err = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < w->cnt && !err; i++) {
		if (w->all[i].reason == WAIT_LOCK && w->all[i].object)
			order[cnt++] = i;
	}
	if (cnt)
		qsort_r(order, cnt, sizeof(*order), compare_waits, (void *)w);
	if (!err)
		err = find_jumps(&releases, p, order, cnt);
	for (size_t i = 0, end; i < cnt && !err; i = end) {
		for (end = i; end < cnt && same_lock(w, order[i], order[end]);)
			end++;
		err = add_run(t, &(struct run){p, &releases, &order[i], end - i, locks++});
	}
	free(releases.jumped_from);
	free(order);
	return err;
}
