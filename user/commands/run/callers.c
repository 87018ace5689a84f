// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/callers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/callers.h"
#include "attach/life.h"
#include "attach/tracer.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "plan/plan.h"
#include "planner/wait_names.h"
#include "run/describe.h"
#include "run/run.h"
#include "run/samples.h"
#include "collect/sample_store.h"
#include "symbol/demangle.h"
#include "symbol/kallsyms.h"
#include "symbol/system_calls.h"
#include "target/target.h"
#include "timeline/lock_kinds.h"
#include "timeline/rwlocks.h"
#include "timeline/waits.h"
#include "util/log.h"
#include "wire.h"

static int put_table(uint32_t number, const struct wire_unwind_page *pages, uint32_t cnt, void *ctx)
{
	struct run *r = ctx;

	return tracer__put_table(r->tracer, number, pages, cnt);
}

static uint64_t hash_of(const struct wire_unwind_space *space)
{
	const uint64_t *words = (const uint64_t *)space;
	uint64_t hash = 0;

	for (size_t i = 0; i < sizeof(*space) / sizeof(*words); i++)
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
	return hash;
}

static int put_space(pid_t pid, const struct wire_unwind_space *space, void *ctx)
{
	struct run *r = ctx;
	bool makes_code = false;

	for (int i = 0; i < WIRE_UNWIND_RANGES && ~space->starts[i]; i++)
		makes_code |= space->ranges[i].object == WIRE_CALLERS_NO_OBJECT;
	jit__looked(&r->callers.jit, pid, hash_of(space), makes_code);
	return tracer__put_space(r->tracer, pid, space);
}

/* Whether a function of the kernel works at probes: traps at breakpoints, single steps, and nops
 * that have become calls. */
static bool works_at_probes(const char *name)
{
	static const char *const of_probes[] = {
		"uprobe_notify_resume", "asm_exc_int3",	       "exc_int3",
		"asm_exc_debug",	"exc_debug_user",      "handle_swbp",
		"__x64_sys_uprobe",	"__x64_sys_uretprobe", "__do_sys_uprobe",
		"__do_sys_uretprobe",
	};

	for (size_t i = 0; i < sizeof(of_probes) / sizeof(of_probes[0]); i++) {
		if (!strcmp(name, of_probes[i]))
			return true;
	}
	return false;
}

static int name_kernel(struct run *r, uint64_t address, uint32_t *function)
{
	uint64_t start = 0;
	const char *name =
		r->callers.kernel ? kallsyms__find(r->callers.kernel, address, &start) : NULL;

	if (name && works_at_probes(name)) {
		*function = RESOLVED_PROBING;
		return 0;
	}
	*function = RESOLVED_NAMELESS;
	return name ? plan_callers__kernel(&r->callers.named, r->plan, name, start, function) : 0;
}

static const char *call_name(uint32_t call)
{
	return call == WIRE_WAIT_PREEMPTED ? "[preempted]"
	       : call == WIRE_WAIT_KERNEL  ? "[kernel]"
					   : system_call__name(call);
}

#define WAKER_NAME 48 /* bytes of each function's name */

/* Who has ended a wait: "[by writer: main › flush_log]"; or, where nobody has, who has the lock:
 * "[held by writer: main › flush_log]". */
static int name_waker(struct run *r, const struct waker_path *waker, uint32_t *function)
{
	char name[64 + WAKER_FUNCTIONS * (WAKER_NAME + 8)];
	size_t len = snprintf(name, sizeof(name), "[%sby %.15s:", waker->holds ? "held " : "",
			      waker->comm);

	for (size_t i = 0; i < waker->cnt; i++) {
		const struct plan_function *f = &r->plan->functions[waker->functions[i]];
		char *plain = demangle(f->symbol);

		len += snprintf(name + len, sizeof(name) - len, "%s%.*s", i ? " › " : " ",
				WAKER_NAME, plain ? plain : f->symbol);
		free(plain);
	}
	snprintf(name + len, sizeof(name) - len, "]");
	return plan_callers__wait(&r->callers.named, r->plan, name, function);
}

/* The kind of lock that a thread waits for, by the innermost functions of its stack: of an rwlock,
 * whether to read or to write. */
static uint32_t role_of(const struct run *r, const struct waker_path *path)
{
	for (size_t i = path->cnt; i-- > 0;) {
		const char *function = r->plan->functions[path->functions[i]].symbol;
		uint32_t role = rwlock__role(function);
		enum lock_kind kind;

		if (role != WAIT_OBJECT_NONE)
			return role == WAIT_OBJECT_READ ? RESOLVE_READ : RESOLVE_WRITE;
		/* In pthread_cond_wait() that is the mutex, which it gets back. */
		if (lock_kind__of(function, &kind))
			return kind == KIND_CONDITION || kind == KIND_BARRIER ? RESOLVE_PAIR
									      : RESOLVE_LOCK;
	}
	return RESOLVE_LOCK;
}

/* By the variable that it is in, if that has a name: "[lock table_lock]", or of an rwlock "[lock
 * table_lock, as a writer]". */
static void name_lock(struct run *r, const struct code_place *at, uint64_t address, char *name,
		      size_t size)
{
	const char *as = at->object == RESOLVE_READ    ? ", as a reader"
			 : at->object == RESOLVE_WRITE ? ", as a writer"
						       : "";
	enum lock_kind kind = at->object == RESOLVE_PAIR ? KIND_CONDITION
			      : *as			 ? KIND_RWLOCK
							 : KIND_LOCK;
	const char *variable = NULL, *word;

	address = lock_kind__address(kind, address);
	if (r->wait_names)
		variable = wait_names__variable(r->wait_names, at->pid, address, &word);
	if (variable)
		snprintf(name, size, "[lock %s%s]", variable, as);
	else
		snprintf(name, size, "[lock 0x%llx%s]", (unsigned long long)address, as);
}

void callers__name_variable(void *ctx, struct recorded_wait *w)
{
	const struct run *r = ctx;
	const char *word;

	w->object_name = wait_names__variable(r->wait_names, w->at.pid, w->object, &word);
	rwlock__tell(w, word);
}

/* Names the object of a wait: a file, or a lock. */
static int name_wait(struct run *r, const struct code_place *at, uint64_t vaddr, uint32_t *function)
{
	char name[320];

	if (at->object == RESOLVE_WAKER)
		return name_waker(r, at->waker, function);
	if (at->object == RESOLVE_REASON)
		return plan_callers__wait(&r->callers.named, r->plan, wait_reason__name(vaddr),
					  function);
	if (at->object == RESOLVE_FILE)
		snprintf(name, sizeof(name), "[%s]", at->file);
	else
		name_lock(r, at, vaddr, name, sizeof(name));
	return plan_callers__wait(&r->callers.named, r->plan, name, function);
}

static int name_caller(const struct code_place *at, uint32_t *function, void *ctx)
{
	struct run *r = ctx;
	uint64_t vaddr = at->vaddr - 1; /* it may lie behind a function that ends in a call */
	int err;

	if (at->object == RESOLVE_ROLE) {
		*function = role_of(r, at->waker);
		return 0;
	}
	if (at->object == RESOLVE_KERNEL)
		err = name_kernel(r, vaddr, function);
	else if (at->object == RESOLVE_CALL)
		err = plan_callers__kernel(&r->callers.named, r->plan, call_name(vaddr), 0,
					   function);
	else if (at->object == RESOLVE_REASON || at->object == RESOLVE_LOCK ||
		 at->object == RESOLVE_READ || at->object == RESOLVE_WRITE ||
		 at->object == RESOLVE_PAIR || at->object == RESOLVE_FILE ||
		 at->object == RESOLVE_WAKER)
		err = name_wait(r, at, vaddr, function);
	else if (at->object == RESOLVE_UNMET)
		err = plan_callers__unmet(&r->callers.named, r->plan, function);
	else if (at->object == RESOLVE_NOWHERE)
		err = plan_callers__unknown(&r->callers.named, r->plan, function);
	else if (at->object == WIRE_CALLERS_NO_OBJECT)
		err = plan_callers__jit(&r->callers.named, r->plan, r->target,
					jit__name(&r->callers.jit, at->pid, vaddr), function);
	else
		err = plan_callers__find(&r->callers.named, r->plan, r->target,
					 at->object == WIRE_CALLERS_VDSO ? CALLER_VDSO : at->object,
					 vaddr, function);
	return err ? err : collector__grow(r->collector, r->plan->functions_cnt);
}

static int name_inlined(const struct code_place *at, uint32_t functions[COLLECTOR_INLINED],
			size_t *cnt, void *ctx)
{
	struct run *r = ctx;
	int err = plan_inlined__find(&r->callers.inlined, r->plan, r->target,
				     (struct plan_code){at->object, at->vaddr - 1}, functions, cnt);

	return err ? err : collector__grow(r->collector, r->plan->functions_cnt);
}

static void note_met(uint32_t object, uint64_t ns, void *ctx)
{
	struct run *r = ctx;

	plan_inlined__met(&r->callers.inlined, object, ns);
}

static int add_process(struct run *r, pid_t pid)
{
	const struct unwind_sink sink = {put_table, put_space, r};
	int err = unwind_spaces__add(&r->callers.spaces, r->target, pid, &sink);

	jit__open_lists(&r->callers.jit);
	if (r->callers.spaces.short_of_ranges && !r->callers.warned) {
		r->callers.warned = true;
		log_warn("process %d has more than %d ranges of code mapped: stacks end "
			 "in the rest",
			 pid, WIRE_UNWIND_RANGES);
	}
	/* There is room for some processes, not for thousands of one name. */
	if (err == -E2BIG && !r->callers.full) {
		r->callers.full = true;
		log_warn("too many processes: the stacks of process %d and others are not unwound, "
			 "so their samples, and what was open when tracing began, are missing",
			 pid);
	}
	return err == -ENOENT || err == -ESRCH || err == -E2BIG ? 0 : err;
}

#define CHILDREN 256 /* at most; to read what one has mapped takes some 0.2 ms */

/* Children that were forked before their parent's mappings were known could not inherit these. */
static int put_children(struct run *r)
{
	pid_t children[CHILDREN];
	size_t cnt = life__followed(tracer__life(r->tracer), children, CHILDREN);
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++)
		err = add_process(r, children[i]);
	return err;
}

static int put_processes(struct run *r)
{
	int err = 0;

	collector__resolve_callers(r->collector, name_caller, r);
	if (r->o->inlines != INLINES_NONE && samples__path_rate(r->samples)) {
		r->callers.inlined.all = r->o->inlines == INLINES_ALL;
		/* Profiles that are subtracted must show a path always in the same way. */
		r->callers.inlined.waits =
			!r->o->interval_ns && !r->o->serve_interval_ns && !r->o->slos_cnt;
		collector__look_for_inlined(r->collector, name_inlined, note_met);
	}
	if (r->o->interval_ns)
		collector__keep_paths(r->collector);
	for (size_t i = 0; !err && i < r->target->processes_cnt; i++)
		err = add_process(r, r->target->processes[i].pid);
	if (!err)
		err = put_children(r);
	if (err)
		log_error("cannot put unwind tables into the kernel: %s", strerror(-err));
	return err;
}

void callers__open(struct run *r)
{
	int err = samples__path_rate(r->samples) ? kallsyms__open(NULL, &r->callers.kernel) : 0;

	if (err)
		log_debug("/proc/kallsyms: %s", strerror(-err));
}

bool callers__seeds(const struct run *r)
{
	const struct options *o = r->o;

	/* A command's stacks are empty when it is begun, but samples of it know what is below. */
	return !o->callers && !o->calls && !o->exec &&
	       (o->chosen || samples__path_rate(r->samples));
}

/* Has the clocks call the programs that are loaded, if these can take samples on paths. Nobody
 * misses what nobody has asked for and this kernel cannot. */
static void bind_clock(struct run *r)
{
	bool bare = !samples__path_rate(r->samples);
	int err = samples__rate(r->samples) ? samples__bind(r->samples, r->tracer) : 0;

	if (err && bare)
		log_debug("no samples of what probes cost: %s", strerror(-err));
	else if (err == -ENOTSUP && !r->o->samples_asked)
		log_debug("no samples in the tree: the programs that are loaded cannot unwind");
	else if (err)
		log_warn("no samples in the tree: %s",
			 err == -ENOTSUP ? "they need Linux 6.0 or later, and not the backend "
					   "trace_event_basic"
					 : strerror(-err));
}

int callers__start(struct run *r)
{
	struct callers *c = &r->callers;
	uint32_t hz;
	int err;

	c->spaces.tables_max = tracer__unwind_tables(r->tracer);
	if (r->o->callers && !c->spaces.tables_max) {
		log_error("--callers needs Linux 6.0 or later, and not the backend "
			  "trace_event_basic; without --callers the rest is traced");
		return -ENOTSUP;
	}
	bind_clock(r);
	if (c->kernel)
		kallsyms__ask(c->kernel, tracer__say_kernel, r->tracer);
	hz = samples__path_rate(r->samples);
	c->unwound = hz || r->o->callers || (callers__seeds(r) && c->spaces.tables_max);
	if (samples__rate(r->samples))
		collector__set_sample_period(r->collector, 1000000000 / samples__rate(r->samples),
					     !hz);
	if (!c->unwound)
		return 0;
	err = put_processes(r);
	if (!err)
		tracer__unwind(r->tracer);
	return err;
}

void callers__refresh(struct run *r, pid_t pid)
{
	int err = r->callers.unwound ? add_process(r, pid) : 0;

	if (err)
		log_warn("stacks of process %d may end early: %s", pid, strerror(-err));
}

void callers__look(struct run *r)
{
	uint64_t astray;
	pid_t pid;

	if (!r->callers.unwound)
		return;
	jit__open_lists(&r->callers.jit);
	astray = tracer__unwind_astray(r->tracer, &pid);
	if (astray == r->callers.astray || !jit__look_is_due(&r->callers.jit, pid))
		return;
	r->callers.astray = astray;
	callers__refresh(r, pid);
}

void callers__free(struct callers *c)
{
	jit__free(&c->jit);
	kallsyms__free(c->kernel);
	unwind_spaces__free(&c->spaces);
	plan_callers__free(&c->named);
	plan_inlined__free(&c->inlined);
}
