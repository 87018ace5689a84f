// SPDX-License-Identifier: GPL-2.0-or-later
#include "sessions/thread_calls.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "timeline/timeline.h"
#include "timeline/waits.h"
#include "util/array.h"
#include "util/search.h"

#define CALLS_MAX   2000000
#define STACKS_MAX  128	  /* of a thread */
#define CALLEES_MAX 10000 /* that are looked at for one that has just ended */

struct reader {
	struct thread_calls *to;
	const struct profile *p;
	const struct time_window *windows; /* in order of time, apart from each other */
	size_t windows_cnt;
	uint32_t *open; /* by depth: the call there, from 1 on; 0: it is not held */
	size_t open_cap;
	struct held_call last; /* the last outermost call so far; leave_ns 0: held, or none */
};

static int compare_windows(const void *a, const void *b)
{
	const struct time_window *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Makes one window of those that touch. Returns how many there are then. */
static size_t merge_windows(struct time_window *windows, size_t cnt)
{
	size_t kept = 0;

	if (cnt)
		qsort(windows, cnt, sizeof(*windows), compare_windows);
	for (size_t i = 0; i < cnt; i++) {
		struct time_window *last = kept ? &windows[kept - 1] : NULL;

		if (!last || windows[i].from_ns > last->to_ns)
			windows[kept++] = windows[i];
		else if (windows[i].to_ns > last->to_ns)
			last->to_ns = windows[i].to_ns;
	}
	return kept;
}

static bool is_wanted(const struct reader *r, const struct timeline_call *call)
{
	size_t i = LOWER_BOUND(r->windows_cnt, k, r->windows[k].to_ns < call->enter_ns);

	return i < r->windows_cnt && r->windows[i].from_ns <= call->leave_ns;
}

static int add_call(struct thread_calls *t, const struct held_call *call)
{
	if (ARRAY_RESERVE(&t->calls, t->calls_cnt, &t->calls_cap))
		return -ENOMEM;
	t->calls[t->calls_cnt++] = *call;
	return 0;
}

/* Holds the last outermost call before a window as well, so that it is known that a thread called
 * nothing between that one and the next, which begins at `until_ns`. */
static int hold_last(struct reader *r, uint64_t until_ns)
{
	uint64_t leave_ns = r->last.leave_ns;
	size_t i = LOWER_BOUND(r->windows_cnt, k, r->windows[k].from_ns <= leave_ns);

	r->last.leave_ns = 0;
	if (!leave_ns || i == r->windows_cnt || r->windows[i].from_ns >= until_ns ||
	    r->to->calls_cnt == CALLS_MAX)
		return 0;
	return add_call(r->to, &(const struct held_call){.enter_ns = r->last.enter_ns,
							 .leave_ns = leave_ns,
							 .function = r->last.function});
}

static int hold(const struct timeline_event *e, void *ctx)
{
	struct reader *r = ctx;
	struct thread_calls *t = r->to;
	struct held_call call;
	int err;

	if (!e->begins)
		return 0;
	if (!e->call->node || e->call->node >= r->p->nodes_cnt)
		return -EINVAL;
	if (ARRAY_RESERVE(&r->open, e->depth, &r->open_cap))
		return -ENOMEM;
	r->open[e->depth] = 0;
	call = (struct held_call){
		.enter_ns = e->call->enter_ns,
		.leave_ns = e->call->leave_ns,
		.caller = e->depth ? r->open[e->depth - 1] : 0,
		.function = r->p->nodes[e->call->node].function,
	};
	err = e->depth ? 0 : hold_last(r, call.enter_ns);
	if (!err && is_wanted(r, e->call) && t->calls_cnt < CALLS_MAX) {
		err = add_call(t, &call);
		r->open[e->depth] = t->calls_cnt;
	} else if (!e->depth) {
		r->last = call;
	}
	return err;
}

static int compare_stacks(const void *a, const void *b)
{
	const struct held_stack *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

int64_t thread_calls__id(const struct profile_thread *thread)
{
	/* A stranger's recording may say a number that has no negative among signed ones. */
	return thread->goroutine ? (int64_t)-thread->goroutine : thread->tid;
}

int thread_calls__read(const struct profile *p, struct time_window *windows, size_t cnt,
		       struct thread_calls *out)
{
	struct reader r = {.to = out, .p = p, .windows = windows};
	int err = 0;

	*out = (struct thread_calls){.p = p};
	r.windows_cnt = merge_windows(windows, cnt);
	out->stacks = calloc(p->threads_cnt + 1, sizeof(*out->stacks));
	if (!out->stacks)
		return -ENOMEM;
	for (size_t i = 0; p->timeline && r.windows_cnt && i < p->threads_cnt && !err; i++) {
		const struct profile_thread *thread = &p->threads[i];
		size_t first = out->calls_cnt;

		if (!thread->first_root || thread->spans)
			continue;
		r.last.leave_ns = 0;
		err = timeline__walk(p->timeline, i, hold, &r);
		if (!err)
			err = hold_last(&r, UINT64_MAX);
		if (out->calls_cnt == first)
			continue;
		out->stacks[out->stacks_cnt++] = (struct held_stack){
			.pid = thread->pid,
			.id = thread_calls__id(thread),
			.first = first,
			.cnt = out->calls_cnt - first,
		};
	}
	if (out->stacks_cnt)
		qsort(out->stacks, out->stacks_cnt, sizeof(*out->stacks), compare_stacks);
	free(r.open);
	return err;
}

void thread_calls__fini(struct thread_calls *t)
{
	free(t->calls);
	free(t->stacks);
	*t = (struct thread_calls){0};
}

/* A call stack right before a moment. Calls from 1 on; 0: none. */
struct moment {
	uint32_t innermost;  /* the call that is open */
	uint32_t last_ended; /* the last of its callees (of outermost calls) that has ended */
	uint64_t since_ns;
};

static struct moment moment_of(const struct thread_calls *t, const struct held_stack *stack,
			       uint64_t at_ns)
{
	const struct held_call *calls = &t->calls[stack->first];
	size_t begun = LOWER_BOUND(stack->cnt, i, calls[i].enter_ns < at_ns);
	struct moment m = {.innermost = begun ? stack->first + begun : 0};

	while (m.innermost && t->calls[m.innermost - 1].leave_ns < at_ns) {
		m.last_ended = m.innermost;
		m.innermost = t->calls[m.innermost - 1].caller;
	}
	if (m.last_ended)
		m.since_ns = t->calls[m.last_ended - 1].leave_ns;
	else if (m.innermost)
		m.since_ns = t->calls[m.innermost - 1].enter_ns;
	return m;
}

/* The call stack that the thread runs on; with several, as with fibers, the one that the thread
 * changed last. NULL: none is held, or more than can be looked at. */
static const struct held_stack *stack_at(const struct thread_calls *t, pid_t pid, int64_t id,
					 uint64_t at_ns, struct moment *m)
{
	const struct held_stack *stacks = t->stacks, *found = NULL;
	size_t first =
		LOWER_BOUND(t->stacks_cnt, k,
			    stacks[k].pid < pid || (stacks[k].pid == pid && stacks[k].id < id));
	size_t cnt = LOWER_BOUND(t->stacks_cnt - first, k,
				 stacks[first + k].pid == pid && stacks[first + k].id == id);

	if (cnt > STACKS_MAX)
		return NULL;
	for (size_t i = first; i < first + cnt; i++) {
		struct moment here = moment_of(t, &stacks[i], at_ns);

		if (found && here.since_ns <= m->since_ns)
			continue;
		found = &stacks[i];
		*m = here;
	}
	return found;
}

struct held_place thread_calls__before(const struct thread_calls *t, pid_t pid, int64_t id,
				       uint64_t at_ns)
{
	struct held_place place = {UINT32_MAX, UINT32_MAX, 0};
	const struct held_call *call;
	struct moment m;

	if (!stack_at(t, pid, id, at_ns, &m))
		return place;
	place.since_ns = m.since_ns;
	if (!m.innermost)
		return place;
	call = &t->calls[m.innermost - 1];
	place.function = call->function;
	if (call->caller)
		place.caller = t->calls[call->caller - 1].function;
	return place;
}

/* The last callee of `around` (0: outermost call) that begins before `at_ns`; 0: there is none. */
static uint32_t callee_before(const struct thread_calls *t, const struct held_stack *stack,
			      uint32_t around, uint64_t at_ns)
{
	const struct held_call *calls = &t->calls[stack->first];
	size_t begun = LOWER_BOUND(stack->cnt, i, calls[i].enter_ns < at_ns);
	uint32_t call = begun ? stack->first + begun : 0, callee = 0;

	while (call && call != around) {
		callee = call;
		call = t->calls[call - 1].caller;
	}
	return callee;
}

/* Whether the call fills more than half of that time. */
static bool fills(const struct held_call *call, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t enter_ns = call->enter_ns > from_ns ? call->enter_ns : from_ns;

	return call->leave_ns > enter_ns && call->leave_ns - enter_ns > (to_ns - from_ns) / 2;
}

/* The callee of the innermost call at `to_ns` (or if none is open the outermost call) that has
 * ended last of those that fill most of [from_ns, to_ns); of callees, it must be able to leave by a
 * jump. UINT32_MAX: there is none. */
static uint32_t just_ended(const struct thread_calls *t, pid_t pid, int64_t id, uint64_t from_ns,
			   uint64_t to_ns)
{
	const struct held_stack *stack;
	struct moment m;
	uint32_t callee;

	if (from_ns >= to_ns)
		return UINT32_MAX;
	stack = stack_at(t, pid, id, to_ns, &m);
	callee = stack ? m.last_ended : 0;
	for (int i = 0; callee && i < CALLEES_MAX; i++) {
		const struct held_call *call = &t->calls[callee - 1];

		if (call->leave_ns <= from_ns + (to_ns - from_ns) / 2)
			break;
		if (fills(call, from_ns, to_ns)) {
			bool jumps = t->p->functions[call->function].leaves_by_jump;

			return !m.innermost || jumps ? call->function : UINT32_MAX;
		}
		callee = callee_before(t, stack, m.innermost, call->enter_ns);
	}
	return UINT32_MAX;
}

uint32_t thread_calls__jumped_from(const struct thread_calls *t, const struct waits *waits,
				   const struct single_wait *wait)
{
	const struct wait_party *waker = &waits->parties[wait->waker - 1];
	uint64_t woken_ns = single_wait__woken_ns(wait);
	uint32_t innermost = waits__function(waits, wait->waker_path), ended;

	/* Another innermost call means that calls were lost. */
	if (thread_calls__before(t, waker->pid, waker->tid, woken_ns).function != innermost)
		return UINT32_MAX;
	ended = just_ended(t, waker->pid, waker->tid, wait->begin_ns, woken_ns);
	return ended != UINT32_MAX && !function__is_nameless(&t->p->functions[ended]) ? ended
										      : UINT32_MAX;
}
