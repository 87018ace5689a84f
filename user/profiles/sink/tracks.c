// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/tracks.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "sink/names.h"

static int compare(const void *left, const void *right)
{
	const struct track *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->thread < b->thread ? -1 : 1;
}

static int compare_threads(const void *left, const void *right)
{
	const struct track *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->thread < b->thread ? -1 : 1;
}

/* Threads that have titles are in an order that means something. */
static void keep_order(const struct profile *p, struct track *tracks, size_t cnt)
{
	if (!cnt || !*p->threads[tracks[0].thread].title)
		return;
	qsort(tracks, cnt, sizeof(*tracks), compare_threads);
	for (size_t i = 0; i < cnt; i++)
		tracks[i].first = !i || tracks[i - 1].pid != tracks[i].pid;
}

ssize_t tracks__new(const struct profile *p, struct track **out)
{
	struct track *tracks = calloc(p->threads_cnt + 1, sizeof(*tracks));
	uint64_t unused = 1;
	size_t cnt = 0, i;

	if (!tracks)
		return -ENOMEM;
	for (i = 0; i < p->threads_cnt; i++) {
		const struct profile_thread *t = &p->threads[i];

		if (!t->first_root)
			continue;
		tracks[cnt++] = (struct track){
			.pid = t->pid,
			.number = thread__number(t),
			.thread = i,
		};
		if (unused <= thread__number(t))
			unused = thread__number(t) + 1;
	}
	qsort(tracks, cnt, sizeof(*tracks), compare);
	/* From the end, for a number to stay with its first thread. */
	for (i = cnt; i--;) {
		tracks[i].first = !i || tracks[i - 1].pid != tracks[i].pid;
		tracks[i].renumbered = !tracks[i].first && tracks[i - 1].number == tracks[i].number;
		if (tracks[i].renumbered)
			tracks[i].number = unused++;
	}
	keep_order(p, tracks, cnt);
	*out = tracks;
	return cnt;
}
