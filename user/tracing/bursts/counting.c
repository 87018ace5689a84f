// SPDX-License-Identifier: GPL-2.0-or-later
#include "bursts/counting.h"

#include <errno.h>
#include <stdlib.h>

/* The target's own CPU time that counting may take in a window, as a share of what is left. */
#define SHARE 0.1
/* Functions whose calls go by reads and writes may be counted for five times as long as the rest: 5
 * ms where the target itself has run for 1 ms. */
#define IO_SHARE 5
/* A window is to have so many reads, or writes: some turns of an event loop. */
#define IO_LEAST 100
/* From this likelihood on functions are taken to go by reads and writes. */
#define SURE 0.8
/* A function that takes more is counted only if all do. */
#define DEAR 2
/* Functions are counted again if that takes so much, and no more. */
#define AGAIN_LEAST 0.01
#define AGAIN_MOST  1
/* A wide window has so many functions that windows know, */
#define WIDE_KNOWN 4
/* and is of use while so many are left that none knows. */
#define WIDE_LEAST 32

/* The share of the target's own time that counting a function takes, by the last look at it.
 * Bursts, of which the own time can hardly be told, make of a function that was dropped at
 * 14,000,000 calls/s one of 1,000,000: until a window has counted it, it is taken to be as dear as
 * it was, but where calls go by reads and writes. */
static double share_of(const struct member *m)
{
	double rate = late__last(&m->late);

	rate = rate < m->per_ns ? m->per_ns : rate;
	if (!m->counted && m->by_io < SURE && rate < m->dropped_per_ns)
		rate = m->dropped_per_ns;
	return rate * m->count_ns;
}

bool counting__by_io(const struct member *m)
{
	return m->by_io >= 0.5;
}

/* Counting takes so much of the time that this tells too little. */
static bool is_dear(const struct member *m)
{
	return share_of(m) > (counting__by_io(m) ? IO_SHARE : DEAR);
}

static int by_turn(const void *a, const void *b, void *ctx)
{
	const struct member *members = ctx;
	const struct member *m = &members[*(const uint32_t *)a];
	const struct member *n = &members[*(const uint32_t *)b];

	if (is_dear(m) != is_dear(n))
		return is_dear(m) ? 1 : -1;
	if (m->counted != n->counted)
		return m->counted < n->counted ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* The index of a function that was counted, as seldom as any of them; drawn by `random` among equal
 * ones. `cnt`: there is none. */
static size_t one_again(const struct member *members, size_t cnt, double random)
{
	size_t found = cnt, alike = 0;

	for (int choosing = 0; choosing < 2; choosing++) {
		size_t nth = (size_t)(random * (double)alike), seen = 0;

		for (size_t i = 0; i < cnt; i++) {
			const struct member *m = &members[i];
			double share = share_of(m);

			if (m->exact || m->loops || !m->counted || share < AGAIN_LEAST ||
			    share > AGAIN_MOST)
				continue;
			if (choosing && m->counted == members[found].counted && seen++ == nth)
				return i;
			if (choosing || (found < cnt && m->counted > members[found].counted))
				continue;
			alike = found < cnt && m->counted == members[found].counted ? alike + 1 : 1;
			found = i;
		}
	}
	return cnt;
}

/* SHARE for functions that go by reads and writes: until a window has cost what it may, the target
 * is to read or write IO_LEAST times. */
static double io_share(const struct counting *c)
{
	double share = c->cost_ns * c->io_per_ns / IO_LEAST;

	return share < SHARE ? SHARE : share > IO_SHARE ? IO_SHARE : share;
}

/* Functions that may be counted: those that loop to their entry only if there are no others. */
static size_t countable(const struct member *members, size_t cnt, size_t again, uint32_t *out)
{
	size_t all = 0;

	for (int loops = 0; loops < 2 && !all; loops++) {
		for (size_t i = 0; i < cnt; i++) {
			if (!members[i].exact && i != again && members[i].loops == loops)
				out[all++] = i;
		}
	}
	return all;
}

static int by_wide_turn(const void *a, const void *b, void *ctx)
{
	const struct member *members = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (members[i].counted_wide != members[k].counted_wide)
		return members[i].counted_wide < members[k].counted_wide ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* Functions that windows know and that are neither rare nor dear, from one that is drawn on. */
static int choose_known(const struct member *members, size_t cnt, double random, uint32_t *list)
{
	size_t first = (size_t)(random * (double)cnt);
	int listed = 0;

	for (size_t i = 0; i < cnt && listed < WIDE_KNOWN; i++) {
		size_t at = (first + i) % cnt;
		const struct member *m = &members[at];
		double takes = share_of(m);

		if (m->exact || m->loops || !m->counted || takes < AGAIN_LEAST ||
		    takes > AGAIN_MOST)
			continue;
		list[listed++] = at;
	}
	return listed;
}

int counting__choose_wide(const struct member *members, size_t cnt, double random, uint32_t *list)
{
	uint32_t *turn = malloc((cnt + 1) * sizeof(*turn));
	size_t all = 0;
	int listed;

	if (!turn)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		if (!members[i].exact && !members[i].loops && !members[i].counted)
			turn[all++] = i;
	}
	qsort_r(turn, all, sizeof(*turn), by_wide_turn, (void *)members);
	listed = all < WIDE_LEAST ? 0 : choose_known(members, cnt, random, list);
	if (listed < WIDE_KNOWN)
		all = listed = 0;
	for (size_t i = 0; i < all && listed < COUNTING_WIDE; i++)
		list[listed++] = turn[i];
	free(turn);
	return listed > WIDE_KNOWN ? listed : 0;
}

int counting__choose(const struct member *members, size_t cnt, const struct counting *c,
		     uint32_t *list)
{
	size_t again = c->again ? one_again(members, cnt, c->random) : cnt, all;
	uint32_t *turn = malloc((cnt + 1) * sizeof(*turn));
	double share = 0;
	int listed = 0;

	if (!turn)
		return -ENOMEM;
	all = countable(members, cnt, again, turn);
	qsort_r(turn, all, sizeof(*turn), by_turn, (void *)members);
	if (again < cnt) {
		share = share_of(&members[again]);
		list[listed++] = again;
		/* Alone, but beside others if it goes by reads and writes. */
		all = counting__by_io(&members[again]) ? all : 0;
	}
	for (size_t i = 0; i < all && listed < COUNTING_MOST; i++) {
		const struct member *m = &members[turn[i]];

		share += share_of(m);
		if (listed && share > (counting__by_io(m) ? io_share(c) : SHARE))
			break;
		list[listed++] = turn[i];
	}
	free(turn);
	return listed;
}
