// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/why/session_behind.h"

#include <stdbool.h>
#include <string.h>

#include "calls/session_data.h"
#include "sink/why/why_part.h"
#include "timeline/waits.h"

#define ROWS_MAX      256 /* kinds of stretches; others count as time alone */
#define TELLING_SHARE 4	  /* what is told is a quarter of the wait at least */

/* Stretches of the same thread name that do the same. */
struct row {
	const struct chain_part *part;
	uint64_t ns;
};

static bool alike(const struct chain_part *a, const struct chain_part *b)
{
	if (a->pid != b->pid || strcmp(a->comm, b->comm) || a->function != b->function ||
	    a->caller != b->caller || a->runs != b->runs || a->reason != b->reason ||
	    a->kind != b->kind)
		return false;
	return !wait_object__compare(a->object, a->object_name, b->object, b->object_name) &&
	       a->held_up.kind == b->held_up.kind &&
	       !wait_object__compare(a->held_up.object, a->held_up.object_name, b->held_up.object,
				     b->held_up.object_name);
}

/* Whether a stretch of a critical path, by its reason and object, is of the wait that the part is
 * about. */
static bool is_of(const struct why_part *part, uint32_t reason, uint32_t kind, uint64_t object,
		  const char *name)
{
	const struct session_wait *w = part->wait;

	/* A named lock may be waited for as a futex of another kind, too. */
	if (reason != w->reason || (kind != w->kind && !(part->object && name && w->object_name)))
		return false;
	return !part->object || !wait_object__compare(object, name, w->object, w->object_name);
}

static void add(struct row *rows, size_t *cnt, const struct chain_part *part)
{
	size_t i = 0;

	while (i < *cnt && !alike(rows[i].part, part))
		i++;
	if (i == ROWS_MAX)
		return;
	if (i == *cnt)
		rows[(*cnt)++] = (struct row){part, 0};
	rows[i].ns += part->to_ns - part->from_ns;
}

/* Adds up what is behind that wait in a session. Returns how long it is waited there. */
static uint64_t add_session(const struct session *session, const struct why_part *part,
			    struct row *rows, size_t *cnt)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < session->chain_cnt; i++) {
		const struct chain_part *c = &session->chain[i];

		if (c->depth &&
		    is_of(part, c->root.reason, c->root.kind, c->root.object, c->root.object_name))
			add(rows, cnt, c);
		else if (c->depth || c->runs ||
			 !is_of(part, c->reason, c->kind, c->object, c->object_name))
			continue;
		ns += c->to_ns - c->from_ns;
	}
	return ns;
}

/* Whether it says no more than that the waker ran, in the function that is told. */
static bool is_told(const struct why_part *part, const struct chain_part *c)
{
	const struct session_wait *w = part->wait;

	return c->runs && c->pid == w->waker_pid && !strcmp(c->comm, w->waker) &&
	       (c->function == w->waker_function || c->function == UINT32_MAX);
}

void session_behind__find(const struct session_group *g, struct why_part *part)
{
	struct row rows[ROWS_MAX], most = {0};
	uint64_t whole_ns = 0;
	size_t cnt = 0;

	for (size_t i = 0; i < g->slowest_cnt; i++) {
		if (g->slowest[i].duration_ns >= g->p99_ns)
			whole_ns += add_session(&g->slowest[i], part, rows, &cnt);
	}
	for (size_t i = 0; i < cnt; i++) {
		if (rows[i].ns > most.ns)
			most = rows[i];
	}
	if (!most.part || most.ns < whole_ns / TELLING_SHARE || is_told(part, most.part))
		return;
	part->behind = most.part;
	part->behind_part = (double)most.ns / (double)whole_ns;
}
