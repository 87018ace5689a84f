// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/callers.h"

#include <errno.h>
#include <string.h>

#include "attach/callers.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "plan/plan.h"
#include "run/describe.h"
#include "run/run.h"
#include "security/privilege.h"
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

static int name_caller(uint32_t object, uint64_t vaddr, uint32_t *function, void *ctx)
{
	struct run *r = ctx;
	/* A return address may lie behind the function, if that ends in a call. */
	int err = plan_callers__find(&r->callers.named, r->plan, r->target,
				     object == WIRE_CALLERS_NO_OBJECT ? CALLER_NO_OBJECT : object,
				     vaddr - 1, function);

	return err ? err : collector__grow(r->collector, r->plan->functions_cnt);
}

static int add_process(struct run *r, pid_t pid)
{
	const struct unwind_sink sink = {put_table, put_space, r};
	int err = unwind_spaces__add(&r->callers.spaces, r->target, pid, &sink);

	if (r->callers.spaces.short_of_ranges && !r->callers.warned) {
		r->callers.warned = true;
		log_warn("--callers: process %d has more than %d ranges of code mapped: stacks end "
			 "in the rest",
			 pid, WIRE_UNWIND_RANGES);
	}
	return err == -ENOENT || err == -ESRCH ? 0 : err;
}

int callers__start(struct run *r)
{
	int err = 0;

	if (!r->o->callers)
		return 0;
	r->callers.spaces.tables_max = tracer__unwind_tables(r->tracer);
	if (!r->callers.spaces.tables_max) {
		log_error("--callers needs Linux 6.0 or later, and the programs that loop there");
		return -ENOTSUP;
	}
	privilege__keep_bpf();
	collector__resolve_callers(r->collector, name_caller, r);
	for (size_t i = 0; !err && i < r->target->processes_cnt; i++)
		err = add_process(r, r->target->processes[i].pid);
	if (!err)
		tracer__unwind(r->tracer);
	else
		log_error("--callers: cannot put unwind tables into the kernel: %s",
			  strerror(-err));
	return err;
}

void callers__refresh(struct run *r, pid_t pid)
{
	int err = r->o->callers ? add_process(r, pid) : 0;

	if (err)
		log_warn("--callers: stacks of process %d may end early: %s", pid, strerror(-err));
}

void callers__free(struct callers *c)
{
	unwind_spaces__free(&c->spaces);
	plan_callers__free(&c->named);
}
