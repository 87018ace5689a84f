// SPDX-License-Identifier: GPL-2.0-or-later
#include "timeline/waits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/search.h"

const char *wait_reason__word(uint32_t reason)
{
	static const char *const words[WAIT_REASONS] = {
		[WAIT_OTHER] = "other",	  [WAIT_LOCK] = "lock",	      [WAIT_CPU] = "cpu",
		[WAIT_DISK] = "disk",	  [WAIT_NETWORK] = "network", [WAIT_PIPE] = "pipe",
		[WAIT_DEVICE] = "device", [WAIT_TIMER] = "timer",     [WAIT_POLL] = "poll",
		[WAIT_CHILD] = "child",	  [WAIT_STOPPED] = "stopped",
	};

	return words[reason < WAIT_REASONS ? reason : WAIT_OTHER];
}

const char *wait_object__role(uint32_t kind)
{
	return kind == WAIT_OBJECT_READ ? "reader" : kind == WAIT_OBJECT_WRITE ? "writer" : NULL;
}

char *wait_object__text(uint32_t kind, uint64_t object, const char *name, char *buf, size_t size)
{
	const uint8_t *ip = (const uint8_t *)&object, *port = ip + 4;

	*buf = '\0';
	if (name)
		snprintf(buf, size, "%.100s", name);
	else if (wait_object__is_futex(kind))
		snprintf(buf, size, "0x%" PRIx64, object);
	else if (kind == WAIT_OBJECT_PEER)
		snprintf(buf, size, "%u.%u.%u.%u:%u", ip[0], ip[1], ip[2], ip[3],
			 port[0] << 8 | port[1]);
	else if (kind == WAIT_OBJECT_FILE)
		snprintf(buf, size, "descriptor %" PRIu64, object);
	return buf;
}

int wait_object__compare(uint64_t a, const char *a_name, uint64_t b, const char *b_name)
{
	if (a_name && b_name)
		return a_name == b_name ? 0 : strcmp(a_name, b_name);
	if (!a_name != !b_name)
		return a_name ? 1 : -1;
	return a < b ? -1 : a > b;
}

bool wait_object__is_many(const char *name)
{
	return name && (!strncmp(name, "clients ", 8) || !strncmp(name, "connections ", 12));
}

static uint32_t *place_of(const struct waits *w, pid_t pid, pid_t tid)
{
	size_t at = ((uint64_t)(uint32_t)tid * 0x9e3779b97f4a7c15ull ^ (uint32_t)pid) >> 13;

	for (;; at++) {
		uint32_t *place = &w->index[at & (w->index_size - 1)];
		const struct wait_party *p = *place ? &w->parties[*place - 1] : NULL;

		if (!p || (p->pid == pid && p->tid == tid))
			return place;
	}
}

static int grow_index(struct waits *w)
{
	uint32_t *before = w->index;

	w->index = calloc(w->index_size ? 2 * w->index_size : 64, sizeof(*w->index));
	if (!w->index) {
		w->index = before;
		return -ENOMEM;
	}
	w->index_size = w->index_size ? 2 * w->index_size : 64;
	for (size_t i = 0; i < w->parties_cnt; i++)
		*place_of(w, w->parties[i].pid, w->parties[i].tid) = i + 1;
	free(before);
	return 0;
}

/* *party = the number, from 1 on. */
static int party_of(struct waits *w, const struct recorded_party *p, uint32_t *party)
{
	uint32_t *place;

	if (2 * (w->parties_cnt + 1) > w->index_size && grow_index(w))
		return -ENOMEM;
	place = place_of(w, p->pid, p->tid);
	if (!*place) {
		if (ARRAY_RESERVE(&w->parties, w->parties_cnt, &w->parties_cap))
			return -ENOMEM;
		w->parties[w->parties_cnt] = (struct wait_party){.pid = p->pid, .tid = p->tid};
		*place = ++w->parties_cnt;
	}
	*party = *place;
	/* The last name counts: threads are named after they have begun. */
	if (*p->comm) {
		memcpy(w->parties[*place - 1].comm, p->comm, sizeof(p->comm));
		w->parties[*place - 1].comm[sizeof(p->comm) - 1] = '\0';
	}
	return 0;
}

int waits__add(struct waits *w, const struct recorded_wait *wait, uint32_t thread)
{
	uint64_t took_ns = wait->took_ns < INT64_MAX / 2 ? wait->took_ns : INT64_MAX / 2;
	struct single_wait *to;
	uint32_t party, waker = 0;

	if (w->cnt == WAITS_MAX) {
		w->left_out++;
		return 0;
	}
	if (ARRAY_RESERVE(&w->all, w->cnt, &w->cap) || party_of(w, &wait->at, &party) ||
	    (wait->waker.pid && party_of(w, &wait->waker, &waker)))
		return -ENOMEM;
	to = &w->all[w->cnt++];
	*to = (struct single_wait){
		.begin_ns = wait->begin_ns < INT64_MAX / 2 ? wait->begin_ns : INT64_MAX / 2,
		.ready_ns = wait->ready_ns < took_ns ? wait->ready_ns : took_ns,
		.object = wait->object,
		.object_name = wait->object_name,
		.party = party - 1,
		.thread = thread,
		.waker = waker,
		.path = wait->at.path,
		.waker_path = wait->waker.path,
		.call = wait->call < UINT16_MAX ? wait->call : 0,
		.kind = wait->kind < WAIT_OBJECTS ? wait->kind : WAIT_OBJECT_NONE,
		.reason = wait->reason < WAIT_REASONS ? wait->reason : WAIT_OTHER,
	};
	to->end_ns = to->begin_ns + took_ns;
	/* A condition variable of glibc's has two words that its waiters take in turns. */
	if (to->kind == WAIT_OBJECT_FUTEX)
		to->object &= ~7ull;
	return 0;
}

static int compare_waits(const void *a, const void *b)
{
	const struct single_wait *x = a, *y = b;

	if (x->party != y->party)
		return x->party < y->party ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* A file may claim that waits overlap. */
static void part_waits(struct waits *w)
{
	for (size_t i = 0; i + 1 < w->cnt; i++) {
		struct single_wait *one = &w->all[i];

		if (one->party != one[1].party || one->end_ns <= one[1].begin_ns)
			continue;
		one->end_ns = one[1].begin_ns;
		if (one->ready_ns > one->end_ns - one->begin_ns)
			one->ready_ns = one->end_ns - one->begin_ns;
	}
}

static void find_ranges(struct waits *w)
{
	for (size_t i = 0; i < w->parties_cnt; i++)
		w->parties[i].first = w->parties[i].cnt = 0;
	for (size_t i = w->cnt; i--;) {
		w->parties[w->all[i].party].first = i;
		w->parties[w->all[i].party].cnt++;
	}
}

int waits__settle(struct waits *w, const struct recorded_path *paths, size_t cnt)
{
	w->paths = calloc(cnt + 1, sizeof(*w->paths));
	if (!w->paths)
		return -ENOMEM;
	if (cnt)
		memcpy(w->paths, paths, cnt * sizeof(*paths));
	w->paths_cnt = cnt;
	for (size_t i = 0; i < cnt; i++) {
		if (w->paths[i].parent > i) /* its own number is i + 1 */
			w->paths[i].parent = 0;
	}
	for (size_t i = 0; i < w->cnt; i++) {
		struct single_wait *one = &w->all[i];

		one->path = one->path <= cnt ? one->path : 0;
		one->waker_path = one->waker_path <= cnt ? one->waker_path : 0;
	}
	if (w->cnt)
		qsort(w->all, w->cnt, sizeof(*w->all), compare_waits);
	part_waits(w);
	find_ranges(w);
	return 0;
}

void waits__free(struct waits *w)
{
	if (!w)
		return;
	free(w->all);
	free(w->parties);
	free(w->paths);
	free(w->index);
	free(w);
}

void waits__cut(struct waits *w, uint64_t from_ns, uint64_t to_ns)
{
	size_t kept = 0;

	for (size_t i = 0; w && i < w->cnt; i++) {
		struct single_wait one = w->all[i];

		if (one.end_ns <= from_ns || one.begin_ns >= to_ns)
			continue;
		one.begin_ns = one.begin_ns > from_ns ? one.begin_ns - from_ns : 0;
		one.end_ns = (one.end_ns < to_ns ? one.end_ns : to_ns) - from_ns;
		if (one.ready_ns > one.end_ns - one.begin_ns)
			one.ready_ns = one.end_ns - one.begin_ns;
		w->all[kept++] = one;
	}
	if (w) {
		w->cnt = kept;
		find_ranges(w);
	}
}

const struct wait_party *waits__party(const struct waits *w, pid_t pid, pid_t tid)
{
	const uint32_t *place = w->index_size ? place_of(w, pid, tid) : NULL;

	return place && *place ? &w->parties[*place - 1] : NULL;
}

const struct single_wait *waits__before(const struct waits *w, const struct wait_party *party,
					uint64_t at_ns)
{
	const struct single_wait *all = &w->all[party->first];
	size_t before = LOWER_BOUND(party->cnt, i, all[i].begin_ns < at_ns);

	return before ? &all[before - 1] : NULL;
}

uint32_t waits__function(const struct waits *w, uint32_t path)
{
	return path && path <= w->paths_cnt ? w->paths[path - 1].function : UINT32_MAX;
}

uint32_t waits__caller(const struct waits *w, uint32_t path)
{
	return path && path <= w->paths_cnt ? waits__function(w, w->paths[path - 1].parent)
					    : UINT32_MAX;
}
