// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "sink/names.h"
#include "sink/text/lock_parties.h"
#include "timeline/waits.h"
#include "util/array.h"

#define PATH_SHOWN 4 /* functions of a path, the innermost */

/* Waits for one lock, which lie together. */
struct run {
	const struct profile *p;
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
	const struct waits *w = ctx;
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
	const struct waits *w = ctx;
	const struct single_wait *x = &w->all[*(const uint32_t *)a];
	const struct single_wait *y = &w->all[*(const uint32_t *)b];

	if (x->waker != y->waker)
		return x->waker < y->waker ? -1 : 1;
	return x->waker_path < y->waker_path ? -1 : x->waker_path > y->waker_path;
}

/* "pool: handle › take": the thread, and its innermost functions. */
static void name_party(const struct profile *p, uint32_t party, uint32_t path, char *name)
{
	uint32_t functions[PATH_SHOWN], cnt = 0;
	int len = snprintf(name, PATH_SIZE, "%s:", p->waits->parties[party].comm);

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
		name_party(r->p, one->waker - 1, one->waker_path, party->name);
	else
		name_party(r->p, one->party, one->path, party->name);
	return 0;
}

static int add_parties(struct parties *t, const struct run *r, bool releases)
{
	int (*compare)(const void *, const void *, void *) =
		releases ? compare_releasers : compare_waiters;
	int err = 0;

	qsort_r(r->waits, r->cnt, sizeof(*r->waits), compare, r->p->waits);
	for (size_t i = 0, end; i < r->cnt && !err; i = end) {
		for (end = i; end < r->cnt && !compare(&r->waits[i], &r->waits[end], r->p->waits);)
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

int single_locks__add(struct parties *t, const struct profile *p)
{
	const struct waits *w = p->waits;
	uint32_t *order = calloc(w->cnt + 1, sizeof(*order)), locks = 0;
	size_t cnt = 0;
	int err = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < w->cnt && !err; i++) {
		if (w->all[i].reason == WAIT_LOCK && w->all[i].object)
			order[cnt++] = i;
	}
	if (cnt)
		qsort_r(order, cnt, sizeof(*order), compare_waits, (void *)w);
	for (size_t i = 0, end; i < cnt && !err; i = end) {
		for (end = i; end < cnt && same_lock(w, order[i], order[end]);)
			end++;
		err = add_run(t, &(struct run){p, &order[i], end - i, locks++});
	}
	free(order);
	return err;
}
