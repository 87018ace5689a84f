// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A place is freed in two steps, as its thread may come there at any time: one that was idle since
 * the last look is left first, so that no wait begins there any more. A poll later, a tenth of a
 * second, programs that had found it before have long ended; if no wait is under way then, nobody
 * has it, and the entry is given back.
 */
#include "collect/wait_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "collect/sample_store.h"
#include "tables/bpf_tables.h"
#include "util/clock.h"

#define NAMING_PARTS 8	       /* of the table, one each time */
#define NAMING_NS    20000000u /* for names, each time */

int wait_store__init(struct wait_store *w, const struct bpf_tables *t)
{
	if (!t->waits)
		return 0;
	w->seen = calloc(t->info.waits_cap, sizeof(*w->seen));
	return w->seen ? 0 : -ENOMEM;
}

void wait_store__fini(struct wait_store *w)
{
	free(w->seen);
	*w = (struct wait_store){0};
}

static uint32_t state_of(const struct wire_wait *e)
{
	return e->hash ? __atomic_load_n(&e->state, __ATOMIC_ACQUIRE) : 0;
}

/* How long a wait has lasted that is under way since then (0: none is). Where not each is looked
 * at, one that ends before it has become long may not be added to its place, or for several. */
static uint64_t lasted_ns(const struct bpf_tables *t, uint64_t since, uint64_t now_ns)
{
	uint64_t ns = since && now_ns > since ? now_ns - since : 0;

	return t->info.habits_cap && ns < WIRE_WAIT_LONG_NS ? 0 : ns;
}

/* The place's time so far. The kernel ends a wait first and adds it then, so one that is the same
 * before and after is not in the sum yet. */
static uint64_t time_of(const struct bpf_tables *t, const struct wire_wait *e, uint64_t now_ns)
{
	uint64_t since = __atomic_load_n(&e->since, __ATOMIC_ACQUIRE);
	uint64_t ns = __atomic_load_n(&e->ns, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&e->since, __ATOMIC_ACQUIRE) == since)
		ns += lasted_ns(t, since, now_ns);
	return ns;
}

/* The function that stands for the place of a waker; *function 0: it is gone. */
static int waker_at(struct wait_store *w, struct sample_store *s, const struct bpf_tables *t,
		    uint32_t place, uint32_t *function)
{
	int err = 0;

	*function = 0;
	if (!place || place > t->info.waits_cap || !t->waits[place - 1].hash)
		return 0;
	if (!w->seen[place - 1].waker) /* function 0 is the plan's */
		err = sample_store__waker(s, t, &t->waits[place - 1], false,
					  &w->seen[place - 1].waker);
	*function = w->seen[place - 1].waker;
	return err;
}

/* The wait that a thread is in; NULL: none that is known. */
static const struct wire_wait *wait_of(const struct bpf_tables *t, uint64_t pid_tgid)
{
	for (uint32_t i = 0; i < t->info.waits_cap; i++) {
		const struct wire_wait *e = &t->waits[i];

		if (e->spot.pid_tgid == pid_tgid && e->since && state_of(e) >= WIRE_WAIT_READY)
			return e;
	}
	return NULL;
}

/* The function that stands for who has the lock, and waits as well; *function 0: not known. */
static int holder_at(struct wait_store *w, struct sample_store *s, const struct bpf_tables *t,
		     uint32_t i, uint32_t *function)
{
	const struct wire_spot *spot = &t->waits[i].spot;
	const struct wire_wait *holder = NULL;
	int err = 0;

	if (spot->holder && !w->seen[i].holder)
		holder = wait_of(t, spot->pid_tgid >> 32 << 32 | spot->holder);
	if (holder)
		err = sample_store__waker(s, t, holder, true, &w->seen[i].holder);
	*function = w->seen[i].holder;
	return err;
}

/* Adds a place's time of sleep: as much of it as is known by who has ended it. */
static int take_sleep(struct wait_store *w, struct sample_store *s, const struct bpf_tables *t,
		      uint32_t i, uint64_t ns)
{
	const struct wire_wait *e = &t->waits[i];
	struct wait_end end = {.reason = e->reason};
	uint32_t function;
	int err = 0;

	for (int k = 0; !err && k < WIRE_WAIT_WAKERS && ns; k++) {
		uint64_t now = __atomic_load_n(&e->wakers[k].ns, __ATOMIC_ACQUIRE);
		uint64_t more = now - w->seen[i].woken_ns[k];

		if (!more)
			continue;
		w->seen[i].woken_ns[k] = now;
		err = waker_at(w, s, t, e->wakers[k].place, &function);
		if (err || !function)
			continue;
		end.waker = &function;
		end.ns = more < ns ? more : ns;
		ns -= end.ns;
		err = sample_store__add_wait(s, t, e, &end);
	}
	if (!err && ns)
		err = holder_at(w, s, t, i, &function);
	if (err || !ns)
		return err;
	end.waker = function ? &function : NULL;
	end.ns = ns;
	return sample_store__add_wait(s, t, e, &end);
}

static int take(struct wait_store *w, struct sample_store *s, const struct bpf_tables *t,
		uint32_t i, uint64_t now_ns)
{
	const struct wire_wait *e = &t->waits[i];
	uint64_t ns = time_of(t, e, now_ns);
	uint64_t ready_ns = __atomic_load_n(&e->ready_ns, __ATOMIC_ACQUIRE), more;
	struct wait_seen *seen = &w->seen[i];
	struct wait_end end = {.reason = WIRE_REASON_CPU};
	int err = 0;

	more = ns > ready_ns ? ns - ready_ns : 0;
	if (more > seen->slept_ns) {
		uint64_t before = seen->slept_ns;

		seen->slept_ns = more;
		err = take_sleep(w, s, t, i, more - before);
	}
	/* A wait that lasted at the last look has counted as sleep up to then. */
	more = ns > seen->slept_ns ? ns - seen->slept_ns : 0;
	if (ready_ns > more)
		ready_ns = more;
	if (err || ready_ns <= seen->ready_ns)
		return err;
	end.ns = ready_ns - seen->ready_ns;
	seen->ready_ns = ready_ns;
	return sample_store__add_wait(s, t, e, &end);
}

int wait_store__read(struct wait_store *w, struct sample_store *s, const struct bpf_tables *t,
		     uint64_t now_ns)
{
	int err = 0;

	if (!w->seen || !s->resolve)
		return 0;
	for (uint32_t i = 0; !err && i < t->info.waits_cap; i++) {
		if (state_of(&t->waits[i]) >= WIRE_WAIT_READY)
			err = take(w, s, t, i, now_ns);
	}
	return err;
}

int wait_store__name_some(struct wait_store *w, struct sample_store *s, const struct bpf_tables *t)
{
	uint32_t cap = t->info.waits_cap, cnt = cap / NAMING_PARTS + 1;
	uint64_t until_ns = now_ns() + NAMING_NS;
	int err = 0;

	if (!w->seen || !s->resolve)
		return 0;
	for (; !err && cnt && now_ns() < until_ns; cnt--) {
		uint32_t i = w->next < cap ? w->next : 0;

		w->next = i + 1;
		if (state_of(&t->waits[i]) >= WIRE_WAIT_READY && !w->seen[i].slept_ns &&
		    !w->seen[i].ready_ns)
			err = take(w, s, t, i, 0);
	}
	return err;
}

/* Gives back an entry, its hash last. */
static void give_back(struct wait_store *w, struct wire_wait *e, struct wait_seen *seen)
{
	memset(&e->state, 0, sizeof(*e) - offsetof(struct wire_wait, state));
	__atomic_store_n(&e->hash, 0, __ATOMIC_RELEASE);
	*seen = (struct wait_seen){0};
	w->freed++;
}

static struct wire_wait_counts counts(const struct bpf_tables *t)
{
	struct wire_wait_counts sum = {0};

	for (int i = 0; i < WIRE_CPUS; i++) {
		const volatile struct wire_wait_counts *c = &t->info.wait_counts[i];

		sum.taken += c->taken;
		sum.lost += c->lost;
		sum.made += c->made;
		sum.shared += c->shared;
	}
	return sum;
}

uint64_t wait_store__taken(const struct bpf_tables *t)
{
	return t->waits ? counts(t).taken : 0;
}

int wait_store__poll(struct wait_store *w, struct sample_store *s, const struct bpf_tables *t)
{
	int err = 0;

	if (!w->seen || !s->resolve || counts(t).made - w->freed <= t->info.waits_cap / 2)
		return 0;
	/* While the places of all wakers are there. */
	err = wait_store__read(w, s, t, 0);
	for (uint32_t i = 0; !err && i < t->info.waits_cap; i++) {
		struct wire_wait *e = &t->waits[i];
		struct wait_seen *seen = &w->seen[i];
		uint32_t state = state_of(e);
		bool waits = __atomic_load_n(&e->since, __ATOMIC_ACQUIRE);

		if (state == WIRE_WAIT_READY && !waits && e->cnt == seen->cnt) {
			__atomic_store_n(&e->state, WIRE_WAIT_LEFT, __ATOMIC_RELEASE);
		} else if (state == WIRE_WAIT_LEFT && !waits) {
			err = take(w, s, t, i, 0);
			give_back(w, e, seen);
		} else {
			seen->cnt = e->cnt;
		}
	}
	return err;
}

void wait_store__end(const struct bpf_tables *t, uint64_t at_ns)
{
	for (uint32_t i = 0; i < t->info.waits_cap; i++) {
		struct wire_wait *e = &t->waits[i];

		e->ns += lasted_ns(t, e->since, at_ns);
		e->since = 0;
	}
}

void wait_store__clear(struct wait_store *w, const struct bpf_tables *t)
{
	if (!w->seen)
		return;
	/* Free entries are all zeros, and most have never been touched: 6 MB. */
	for (uint32_t i = 0; i < t->info.waits_cap; i++) {
		if (t->waits[i].hash)
			memset(&t->waits[i], 0, sizeof(*t->waits));
	}
	memset(w->seen, 0, t->info.waits_cap * sizeof(*w->seen));
	for (int i = 0; i < WIRE_CPUS; i++)
		t->info.wait_counts[i] = (struct wire_wait_counts){0};
	w->freed = 0;
}

void wait_store__account(const struct bpf_tables *t, struct profile_accounting *a)
{
	struct wire_wait_counts sum;

	if (!t->waits)
		return;
	sum = counts(t);
	a->waits = sum.taken;
	a->waits_lost = sum.lost;
	a->waits_estimated = sum.shared;
}
