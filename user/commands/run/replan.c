// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/replan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/life.h"
#include "attach/tracer.h"
#include "budget/controller.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "looks/call_cost.h"
#include "plan/exit_strategy.h"
#include "planner/planner.h"
#include "planner/wait_names.h"
#include "run/callers.h"
#include "run/describe.h"
#include "run/roles.h"
#include "run/run.h"
#include "target/strangers.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

/* A look takes some 20 us a process of the machine: so long it may take of one CPU's time. */
#define PAUSE_NS 1000000000ull
#define SHARE	 200

/* Looks at one process. What ends meanwhile needs no plan. Returns false if what it has mapped
 * remains unknown. */
static bool refresh(struct run *r, pid_t pid, bool watched)
{
	int err = target__refresh(r->target, pid, watched);

	if (!err)
		callers__refresh(r, pid);
	if (!err && r->wait_names)
		wait_names__look(r->wait_names, pid);
	if (!err || err == -ENOENT || err == -ESRCH)
		return true;
	log_warn("cannot see what process %d has loaded: %s", pid, strerror(-err));
	return false;
}

static void say_what_is_new(const struct run *r, size_t functions_before)
{
	const struct plan *p = r->plan;

	for (size_t i = functions_before; i < p->functions_cnt;) {
		uint32_t object = p->functions[i].object;
		const char *name = path_base(r->target->objects[object].path);
		size_t first = i;

		while (i < p->functions_cnt && p->functions[i].object == object)
			i++;
		log_info("tracing %zu more function%s, in %s", i - first, i - first == 1 ? "" : "s",
			 name);
		if (plan__is_static(p, object))
			log_warn("%s is statically linked, so it could not be held until it had "
				 "probes: its first calls are missing",
				 name);
	}
}

/* Extends the plan. What it takes for granted about contexts must still hold when that is known to
 * the kernel side. */
static int plan_anew(struct run *r)
{
	struct life *life = tracer__life(r->tracer);
	bool made;
	int err;

	do {
		made = life__contexts_made(life);
		r->plan_opts.contexts_made |= made || tracer__misses_contexts(r->tracer);
		err = planner__extend(r->plan, r->target, &r->selection.filter, &r->plan_opts);
		life__guard_contexts(life, r->plan->contexts_guarded);
	} while (!err && made != life__contexts_made(life));
	return err;
}

/* Functions have come, or have got other exits. */
static int tell_changes(struct run *r)
{
	struct description *description;
	int err = call_cost__tell(r->plan, r->collector);

	if (!err)
		err = describe__new(r->plan, r->target, r->tracer, r->o, &r->selection.arguments,
				    &description);
	if (err)
		return err;
	describe__free(r->description);
	r->description = description;
	return 0;
}

/* For all objects that are attached, or all that are not. */
static int bind_objects(struct run *r, bool attached)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->plan->objects_cnt; i++) {
		if (tracer__is_attached(r->tracer, i) == attached &&
		    tracer__is_unbound(r->tracer, i) == attached)
			err = planner__bind(r->plan, r->target, &r->plan_opts, i, attached);
	}
	return err;
}

int replan__before_attach(struct run *r)
{
	int err;

	if (r->o->children && r->target->processes_cnt)
		strangers__look(r->target);
	err = tracer__share(r->tracer, r->plan, r->target);
	return err ? err : bind_objects(r, false);
}

int replan__bind(struct run *r)
{
	int err = bind_objects(r, true);

	if (!err)
		err = tell_changes(r);
	return err ? err : tracer__bind(r->tracer, r->plan, r->target);
}

/* Single calls whose return is another tool's are no matter. */
#define SHARED_MOST 50

int replan__shared_returns(struct run *r)
{
	struct life *life = tracer__life(r->tracer);
	struct life_counts counts;
	int64_t attached;
	int err;

	if (r->plan->returns_replaced)
		return 0;
	life__counts(life, &counts);
	if (counts.shared < SHARED_MOST)
		return 0;
	log_warn(
		"another tool's return probes are on the same functions, and this kernel may crash "
		"where two are: exits are seen at their sites from now on");
	err = planner__give_up_returns(r->plan, r->target, &r->plan_opts);
	if (err)
		return err;
	attached = tracer__attach(r->tracer, r->plan, r->target, NULL);
	life__stop_returns(life);
	if (attached == -ENOMEM)
		return attached;
	return tell_changes(r);
}

/* Plans and attaches what is new. */
static int extend(struct run *r)
{
	size_t functions = r->plan->functions_cnt;
	int64_t attached;
	int err;

	err = plan_anew(r);
	if (err)
		return err;
	err = collector__grow(r->collector, r->plan->functions_cnt);
	if (!err)
		err = roles__apply(r);
	if (!err && r->plan->functions_cnt != functions)
		err = replan__before_attach(r);
	if (err)
		return err;
	attached = tracer__attach_loaded(r->tracer, r->plan, r->target);
	if (attached < 0 && attached != -ESRCH)
		return attached;
	if (r->plan->functions_cnt == functions && !r->plan->returns_replaced)
		return 0;
	err = tell_changes(r);
	if (err)
		return err;
	say_what_is_new(r, functions);
	return 0;
}

/* Whether first calls of what is loaded later may be asked for. */
static bool wants_what_is_loaded(const struct run *r)
{
	return filter__wants_libraries(&r->selection.filter) ||
	       filter__wants_regions(&r->selection.filter) || r->selection.usdt.cnt ||
	       line_specs__name_libraries(&r->selection.lines);
}

/* Brings the plan up to date with what was seen of the processes: all that they map if `complete`.
 */
static int catch_up(struct run *r, bool complete)
{
	struct life *life = tracer__life(r->tracer);
	int err = extend(r);

	if (err)
		log_warn("what was loaded since the start is not traced: %s", strerror(-err));
	/* Unless all that is mapped is known to be harmless, no return address is touched. */
	if (err || !complete || r->plan->returns_replaced)
		life__stop_returns(life);
	if (!r->lost_track)
		life__hold(life, !r->o->exec && wants_what_is_loaded(r),
			   plan__uses_returns(r->plan));
	return err == -ENOMEM ? err : 0;
}

int replan__all(struct run *r)
{
	struct life *life = tracer__life(r->tracer);
	uint32_t generation = life__generation(life);
	bool complete = true;
	int err;

	for (size_t i = 0; i < r->target->processes_cnt; i++)
		complete &= refresh(r, r->target->processes[i].pid, false);
	err = catch_up(r, complete);
	life__caught_up(life, generation);
	return err;
}

/* A process that was a stranger belongs to the target; as life__join(). */
static int join(struct run *r, pid_t pid, bool followed)
{
	struct life *life = tracer__life(r->tracer);
	uint32_t generation;
	bool joined = life__join(life, pid, followed, &generation);
	int err;

	if (joined && !followed)
		controller__joined(r->controller, pid);
	err = catch_up(r, refresh(r, pid, false));
	life__done(life, generation);
	if (joined)
		log_debug("process %d is traced as well", pid);
	return err;
}

int replan__joiners(struct run *r)
{
	struct life *life = tracer__life(r->tracer);
	/* CPU time: where others have the CPU a look lasts, but takes no more. */
	uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), took_ns;
	pid_t *pids;
	size_t cnt;
	bool more;
	int err;

	if (!r->target->whom)
		return 0;
	if (whom__refresh(r->target->whom))
		life__choose_anew(life, whom__begins(r->target->whom));
	err = whom__find(r->target->whom, &pids, &cnt, &more);
	took_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	r->joiners_due_ns = now_ns() + (took_ns * SHARE > PAUSE_NS ? took_ns * SHARE : PAUSE_NS);
	r->belong = 0;
	for (size_t i = 0; !err && i < cnt; i++) {
		if (target__left_out(r->target, pids[i]))
			continue;
		r->belong++;
		if (!target__has(r->target, pids[i]) && !life__knows(life, pids[i]))
			err = join(r, pids[i], false);
	}
	free(pids);
	return err;
}

int replan__tick(struct run *r, uint64_t now_ns)
{
	if (!r->target->whom || !whom__changes(r->target->whom) || now_ns < r->joiners_due_ns)
		return 0;
	return replan__joiners(r);
}

bool replan__nobody_left(struct run *r)
{
	return (now_ns() >= r->joiners_due_ns && replan__joiners(r)) || !r->belong;
}

/*
 * Another thread than its leader has begun a program in a process. A link that is bound to the
 * process keeps to the leader that it had: the kernel puts none of the link's probes into what the
 * process maps from now on, but runs the link's programs where a new link has put some.
 */
static void begin_anew(struct run *r, pid_t pid)
{
	size_t process = target__index(r->target, pid);

	if (process == r->target->processes_cnt)
		return;
	tracer__unlink_process(r->tracer, r->target, process);
	target__unmap(r->target, process);
}

static int on_event(const struct life_event *e, void *ctx)
{
	struct run *r = ctx;
	bool complete;
	int err;

	if (e->kind == LIFE_STARTED)
		return whom__has(r->target->whom, e->pid) ? join(r, e->pid, true) : 0;
	if (e->kind == LIFE_ENDED) {
		controller__child_ended(r->controller, e->pid);
		return 0;
	}
	if (e->kind == LIFE_CONTEXT)
		return catch_up(r, true);
	controller__loads(r->controller, now_ns());
	if (e->relink)
		begin_anew(r, e->pid);
	complete = refresh(r, e->pid, true);
	if (e->relink && !r->o->follow && !r->o->joins)
		log_warn("a thread of process %d has begun a new program: its first calls may be "
			 "missing (--follow sees them)",
			 e->pid);
	err = catch_up(r, complete);
	life__done(tracer__life(r->tracer), e->generation);
	return err;
}

int replan__events(struct run *r)
{
	struct life *life = tracer__life(r->tracer);
	int err = life__events(life, on_event, r);

	if (!r->lost_track && life__lost_track(life)) {
		r->lost_track = true;
		log_warn("files are loaded faster than they can be looked at: some may be traced "
			 "late "
			 "or not at all");
		life__stop_returns(life);
		life__hold(life, false, false);
	}
	return err;
}
