// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/holder/held_links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/links/closer.h"
#include "attach/links/cpus/near.h"
#include "attach/links/cpus/quiet.h"
#include "attach/links/fork_lock.h"
#include "attach/links/link.h"
#include "attach/links/trace_event.h"
#include "target/process.h"
#include "util/array.h"
#include "util/clock.h"

#define LOOK_NS 10000000

struct held {
	int fd;	     /* -1: none */
	pid_t pid;   /* of the process that its probes are in; 0: all, or ours */
	bool shared; /* they are in all, for the sake of the target's forked children */
	bool is_event;
	uint32_t event; /* its number */
	uint32_t probes;
};

struct held_links {
	struct held *held;
	size_t cnt, cap;
	size_t first_free; /* no number below is */
	struct held *put_off;
	size_t put_off_cnt, put_off_cap;
	int *kept; /* descriptors of files, as long as there are links */
	size_t kept_cnt, kept_cap;
	struct closer *closer;
	struct trace_events *events;
	struct near near;
	struct process_names target; /* some of its processes, also while `near` has none */
	pid_t debugged;		     /* one of them that a debugger is at; 0: none */
	uint64_t looked_ns;	     /* when `debugged` was set */
};

/* A probe is an instruction to be changed in each process that it is in. */
static uint32_t changes(const struct held_links *l, const struct held *link)
{
	uint64_t cnt = (uint64_t)link->probes * (link->pid || !l->near.all ? 1 : l->near.all);

	return cnt < UINT32_MAX ? cnt : UINT32_MAX;
}

static void held_close(const struct held_links *l, const struct held *link)
{
	if (link->is_event)
		closer__close_event(l->closer, link->fd, l->events, link->event, changes(l, link));
	else
		closer__close(l->closer, link->fd, changes(l, link));
}

/* Closes what has been put off where the debugger has left. */
static void look_again(struct held_links *l)
{
	pid_t other = 0;
	size_t cnt = 0;

	for (size_t i = 0; i < l->put_off_cnt; i++) {
		struct held *link = &l->put_off[i];

		if (!process__is_debugged(link->pid)) {
			if (link->shared && !other)
				other = process__debugged_like(&l->target);
			link->pid = link->shared ? other : 0;
		}
		if (link->pid)
			l->put_off[cnt++] = *link;
		else
			held_close(l, link);
	}
	l->put_off_cnt = cnt;
}

/* A process of the target that a debugger is at, as it was up to 10 ms ago: links are closed by the
 * hundred, and a look at a process takes 15 us. 0: none. */
static pid_t debugged_of(struct held_links *l)
{
	uint64_t at_ns = now_ns();

	if (at_ns >= l->looked_ns + LOOK_NS) {
		l->debugged = process__debugged_of(&l->target);
		l->looked_ns = at_ns;
	}
	return l->debugged;
}

/* `debugged`: a process that shared links are put off for; 0: none. */
static int close_one(struct held_links *l, int number, pid_t debugged)
{
	struct held link;

	if (number < 0 || (size_t)number >= l->cnt || l->held[number].fd < 0)
		return -ENOENT;
	link = l->held[number];
	l->held[number].fd = -1;
	if ((size_t)number < l->first_free)
		l->first_free = number;
	if (link.shared)
		link.pid = debugged;
	if (link.pid && (link.shared || process__is_debugged(link.pid)) &&
	    !ARRAY_RESERVE(&l->put_off, l->put_off_cnt, &l->put_off_cap))
		l->put_off[l->put_off_cnt++] = link;
	else
		held_close(l, &link);
	return 0;
}

int held_links__close(struct held_links *l, int number)
{
	return close_one(l, number, debugged_of(l));
}

int held_links__close_all(struct held_links *l)
{
	pid_t debugged = l->cnt ? process__debugged_like(&l->target) : 0;

	closer__hold(l->closer, false);
	/* The last first: these are of functions that are called, see grouping__link(). */
	for (size_t i = l->cnt; i-- > 0;)
		close_one(l, i, debugged);
	l->cnt = l->first_free = 0;
	look_again(l);
	closer__drain(l->closer);
	return l->put_off_cnt;
}

void held_links__hold(const struct held_links *l, bool hold)
{
	closer__hold(l->closer, hold);
}

void held_links__settle(const struct held_links *l)
{
	closer__settle(l->closer);
}

void held_links__be_near(struct held_links *l, const struct near *near)
{
	l->near = *near;
	if (near->pids[0])
		process__names(near->pids, near->cnt ? near->cnt : NEAR_PROCESSES, &l->target);
	closer__be_near(l->closer, near);
}

/* A number that is free, or -ENOMEM. */
static int free_number(struct held_links *l)
{
	while (l->first_free < l->cnt && l->held[l->first_free].fd >= 0)
		l->first_free++;
	if (l->first_free == l->cnt) {
		if (ARRAY_RESERVE(&l->held, l->cnt, &l->cap))
			return -ENOMEM;
		l->held[l->cnt++].fd = -1;
	}
	return l->first_free;
}

/* Sets made->fd; -errno. */
static void make(const struct held_links *l, const struct link_spec *spec, struct held *made)
{
	bool quiet;
	int own;

	if (made->is_event) {
		made->fd = trace_event__open(l->events, spec, &made->event);
		return;
	}
	quiet = quiet__is_due(&l->near, spec->cnt);
	own = quiet ? fork_lock__prepare(spec) : -1;
	if (own >= 0)
		closer__close(l->closer, own, 0);
	quiet = quiet && quiet__begin();
	if (!quiet)
		near__go(&l->near, spec->cnt);
	made->fd = link__create(spec);
	fork_lock__used();
	if (quiet)
		quiet__end();
	else
		near__leave();
}

int held_links__keep_file(struct held_links *l, int fd)
{
	if (ARRAY_RESERVE(&l->kept, l->kept_cnt, &l->kept_cap))
		return -ENOMEM;
	l->kept[l->kept_cnt++] = fd;
	return 0;
}

int held_links__make(struct held_links *l, const struct link_spec *spec)
{
	struct held made = {
		.pid = spec->pid == getppid() ? 0 : spec->pid,
		.shared = spec->shared,
		.is_event = spec->attach_type == LINK_TRACE_EVENT,
		.probes = spec->cnt,
	};
	int number = free_number(l);

	if (number < 0)
		return number;
	make(l, spec, &made);
	if (made.fd < 0)
		return made.fd;
	l->held[number] = made;
	return number;
}

int held_links__new(struct trace_events *events, struct held_links **out)
{
	struct held_links *l = calloc(1, sizeof(*l));
	int err = l ? closer__new(&l->closer) : -ENOMEM;

	if (err) {
		free(l);
		return err;
	}
	l->events = events;
	*out = l;
	return 0;
}

void held_links__free(struct held_links *l)
{
	if (!l)
		return;
	free(l->held);
	free(l->put_off);
	free(l->kept);
	free(l);
}
