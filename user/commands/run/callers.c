// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/callers.h"

#include <errno.h>
#include <string.h>

#include "attach/callers.h"
#include "attach/sample_clock.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "plan/plan.h"
#include "run/describe.h"
#include "run/run.h"
#include "security/privilege.h"
#include "symbol/kallsyms.h"
#include "target/target.h"
#include "util/log.h"
#include "wire.h"

static int put_table(uint32_t number, const struct wire_unwind_page *pages, uint32_t cnt, void *ctx)
{
	struct run *r = ctx;

	return tracer__put_table(r->tracer, number, pages, cnt);
}

static int put_space(pid_t pid, const struct wire_unwind_space *space, void *ctx)
{
	struct run *r = ctx;

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
	return plan_callers__kernel(&r->callers.named, r->plan, name ? name : "[kernel]", start,
				    function);
}

static int name_caller(uint32_t object, uint64_t vaddr, uint32_t *function, void *ctx)
{
	struct run *r = ctx;
	int err;

	/* A return address may lie behind the function, if that ends in a call. */
	if (object == RESOLVE_KERNEL)
		err = name_kernel(r, vaddr - 1, function);
	else
		err = plan_callers__find(&r->callers.named, r->plan, r->target,
					 object == WIRE_CALLERS_NO_OBJECT ? CALLER_NO_OBJECT
									  : object,
					 vaddr - 1, function);
	return err ? err : collector__grow(r->collector, r->plan->functions_cnt);
}

static int add_process(struct run *r, pid_t pid)
{
	const struct unwind_sink sink = {put_table, put_space, r};
	int err = unwind_spaces__add(&r->callers.spaces, r->target, pid, &sink);

	if (r->callers.spaces.short_of_ranges && !r->callers.warned) {
		r->callers.warned = true;
		log_warn("process %d has more than %d ranges of code mapped: stacks end "
			 "in the rest",
			 pid, WIRE_UNWIND_RANGES);
	}
	return err == -ENOENT || err == -ESRCH ? 0 : err;
}

static int put_processes(struct run *r)
{
	int err = 0;

	privilege__keep_bpf();
	collector__resolve_callers(r->collector, name_caller, r);
	for (size_t i = 0; !err && i < r->target->processes_cnt; i++)
		err = add_process(r, r->target->processes[i].pid);
	if (err)
		log_error("cannot put unwind tables into the kernel: %s", strerror(-err));
	return err;
}

static void explain(const char *why)
{
	log_warn("--sample-rate: no samples in the tree: %s", why);
}

void callers__open(struct run *r)
{
	int err;

	if (!r->o->sample_rate)
		return;
	err = sample_clock__new(r->o->sample_rate, &r->callers.clock);
	if (err) {
		explain(strerror(-err));
		return;
	}
	err = kallsyms__open(NULL, &r->callers.kernel);
	if (err)
		log_debug("/proc/kallsyms: %s", strerror(-err));
}

uint32_t callers__sample_rate(const struct run *r)
{
	return r->callers.clock ? r->o->sample_rate : 0;
}

/* Has the clocks call the programs that are loaded, or closes them. */
static void bind_clock(struct run *r)
{
	struct callers *c = &r->callers;
	int err = c->clock ? sample_clock__bind(c->clock, r->tracer) : 0;

	if (!err)
		return;
	explain(err == -ENOTSUP ? "they need Linux 6.0 or later, and the programs that loop there"
				: strerror(-err));
	sample_clock__free(c->clock);
	c->clock = NULL;
}

int callers__start(struct run *r)
{
	struct callers *c = &r->callers;
	int err;

	c->spaces.tables_max = tracer__unwind_tables(r->tracer);
	if (r->o->callers && !c->spaces.tables_max) {
		log_error("--callers needs Linux 6.0 or later, and the programs that loop there");
		return -ENOTSUP;
	}
	bind_clock(r);
	c->unwound = c->clock || r->o->callers;
	if (!c->unwound)
		return 0;
	if (c->clock)
		collector__set_sample_period(r->collector, 1000000000 / r->o->sample_rate);
	err = put_processes(r);
	if (!err && r->o->callers)
		tracer__unwind(r->tracer);
	return err;
}

void callers__start_clock(struct run *r)
{
	sample_clock__start(r->callers.clock);
}

void callers__stop_clock(struct run *r)
{
	sample_clock__stop(r->callers.clock);
}

void callers__refresh(struct run *r, pid_t pid)
{
	int err = r->callers.unwound ? add_process(r, pid) : 0;

	if (err)
		log_warn("stacks of process %d may end early: %s", pid, strerror(-err));
}

void callers__free(struct callers *c)
{
	sample_clock__free(c->clock);
	kallsyms__free(c->kernel);
	unwind_spaces__free(&c->spaces);
	plan_callers__free(&c->named);
}
