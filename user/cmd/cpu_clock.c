// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes that live are asked; of those that have ended the kernel side has kept what they had.
 * The target's own are known; followed children, and processes that map a file, are found by what
 * they have called.
 */
#include "cmd/cpu_clock.h"

#include <stdbool.h>
#include <stdlib.h>

#include "attach/tracer.h"
#include "cli/options.h"
#include "cmd/run.h"
#include "collect/collector.h"
#include "target/process.h"
#include "target/target.h"
#include "util/array.h"

#define MAX_PROCESSES 4096 /* at a time */

/* The last one of that number. */
static struct process_clock *find(struct cpu_clock *c, pid_t pid)
{
	for (size_t i = c->cnt; i-- > 0;) {
		if (c->processes[i].pid == pid)
			return &c->processes[i];
	}
	return NULL;
}

/* Those that have ended are seen among the callers for as long as their paths are in the tables. A
 * number that lives again is another process. */
static void add(struct cpu_clock *c, pid_t pid, bool starting)
{
	const struct process_clock *known = find(c, pid);
	uint64_t ns = 0;

	if (known && !known->ended)
		return;
	if ((process__cpu_ns(pid, &ns) && (known || starting)) ||
	    ARRAY_RESERVE(&c->processes, c->cnt, &c->cap))
		return;
	c->processes[c->cnt++] =
		(struct process_clock){.pid = pid, .start_ns = starting ? ns : 0, .last_ns = ns};
}

static void add_callers(struct cpu_clock *c, const struct run *r, bool starting)
{
	size_t cnt;

	if (!c->pids)
		c->pids = calloc(MAX_PROCESSES, sizeof(*c->pids));
	if (!c->pids)
		return;
	cnt = collector__processes(r->collector, c->pids, MAX_PROCESSES);
	for (size_t i = 0; i < cnt; i++)
		add(c, c->pids[i], starting);
}

uint64_t cpu_clock__read(struct cpu_clock *c, const struct run *r, bool starting)
{
	uint64_t sum = 0;

	for (size_t i = 0; starting && i < r->target->processes_cnt; i++)
		add(c, r->target->processes[i].pid, true);
	if (!r->target->processes_cnt || r->o->follow)
		add_callers(c, r, starting);
	for (size_t i = 0; i < c->cnt; i++) {
		struct process_clock *p = &c->processes[i];
		uint64_t at_end_ns;

		if (!p->ended && process__cpu_ns(p->pid, &p->last_ns)) {
			p->ended = true;
			/* Taken a moment before the end: clocks do not run backwards for that. */
			if (tracer__cpu_of_ended(r->tracer, p->pid, &at_end_ns) &&
			    at_end_ns > p->last_ns)
				p->last_ns = at_end_ns;
		}
		if (p->last_ns > p->start_ns)
			sum += p->last_ns - p->start_ns;
	}
	return sum;
}

bool cpu_clock__has(const struct cpu_clock *c, pid_t pid)
{
	for (size_t i = c->cnt; i-- > 0;) {
		if (c->processes[i].pid == pid)
			return !c->processes[i].ended;
	}
	return false;
}

void cpu_clock__clear(struct cpu_clock *c)
{
	free(c->processes);
	free(c->pids);
	*c = (struct cpu_clock){0};
}
