// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes that live are asked. Of the target's own that have ended the kernel side has kept what
 * they had, each apart; of followed children, and of processes that map a file, their sum: there
 * may be hundreds a second. Those of them that live are found in the list of who is traced, or,
 * where everybody is who maps a file, by what they have called. What these had before the start is
 * known as all processes' clocks were read then.
 */
#include "budget/cpu_clock.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "attach/life.h"
#include "attach/tracer.h"
#include "budget/inputs.h"
#include "collect/collector.h"
#include "target/process.h"
#include "target/target.h"
#include "util/array.h"
#include "util/clock.h"

#define MAX_PROCESSES 4096 /* at a time */

static bool is_named(const struct cpu_clock *c, pid_t pid)
{
	for (size_t i = 0; i < c->cnt; i++) {
		if (c->processes[i].pid == pid)
			return true;
	}
	return false;
}

/* `from_now`: what it has had up to now does not count, also if it has ended. */
static void add(struct cpu_clock *c, pid_t pid, bool from_now)
{
	uint64_t ns = 0;
	bool ended = process__cpu_ns(pid, &ns);

	if (ARRAY_RESERVE(&c->processes, c->cnt, &c->cap))
		return;
	c->processes[c->cnt++] = (struct process_clock){
		.pid = pid, .ended = ended && from_now, .start_ns = ns, .last_ns = ns};
}

void cpu_clock__add(struct cpu_clock *c, pid_t pid)
{
	add(c, pid, false);
}

static uint64_t read_named(struct cpu_clock *c, const struct budget_inputs *in)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->cnt; i++) {
		struct process_clock *p = &c->processes[i];
		uint64_t at_end_ns;

		if (!p->ended && process__cpu_ns(p->pid, &p->last_ns)) {
			p->ended = true;
			/* Taken a moment before the end: clocks do not run backwards for that. */
			if (tracer__cpu_of_ended(in->tracer, p->pid, &at_end_ns) &&
			    at_end_ns > p->last_ns)
				p->last_ns = at_end_ns;
		}
		if (p->last_ns > p->start_ns)
			sum += p->last_ns - p->start_ns;
	}
	return sum;
}

static int by_pid(const void *a, const void *b)
{
	const struct process_clock *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Reads the clocks of all processes. */
static void note_older(struct cpu_clock *c)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;

	c->start_ticks = clock_ns(CLOCK_BOOTTIME) / (1000000000 / sysconf(_SC_CLK_TCK));
	c->older_cnt = 0;
	while (dir && (entry = readdir(dir))) {
		struct process_clock p = {.pid = atoi(entry->d_name)};

		if (p.pid <= 0 || process__cpu_ns(p.pid, &p.start_ns))
			continue;
		if (ARRAY_RESERVE(&c->older, c->older_cnt, &c->older_cap))
			break;
		c->older[c->older_cnt++] = p;
	}
	if (dir)
		closedir(dir);
	if (c->older_cnt)
		qsort(c->older, c->older_cnt, sizeof(*c->older), by_pid);
}

/* A process is seen that lives and counts: what it had had at the start, in ns, if it has not been
 * seen before; 0: it has, or is younger. */
static uint64_t had_before(struct cpu_clock *c, pid_t pid)
{
	const struct process_clock key = {.pid = pid};
	struct process_clock *p = NULL;

	if (c->older_cnt)
		p = bsearch(&key, c->older, c->older_cnt, sizeof(*c->older), by_pid);
	if (!p || p->ended)
		return 0;
	p->ended = true;
	/* The number may be another process's by now. */
	return process__started(pid) <= c->start_ticks ? p->start_ns : 0;
}

/* CPU time of other processes that live, in ns: of followed children, or of who has called
 * something. */
static uint64_t read_living(struct cpu_clock *c, const struct budget_inputs *in)
{
	uint64_t sum = 0;

	if (!c->pids)
		c->pids = calloc(MAX_PROCESSES, sizeof(*c->pids));
	if (!c->pids)
		return 0;
	c->pids_cnt = in->target->processes_cnt
			      ? life__followed(tracer__life(in->tracer), c->pids, MAX_PROCESSES)
			      : collector__processes(in->collector, c->pids, MAX_PROCESSES);
	for (size_t i = 0; i < c->pids_cnt; i++) {
		uint64_t ns;

		if (is_named(c, c->pids[i]) || process__cpu_ns(c->pids[i], &ns))
			continue;
		sum += ns;
		c->others_start_ns += had_before(c, c->pids[i]);
	}
	return sum;
}

/* CPU time of other processes, ended or not, in ns since the start. One that ends between the two
 * looks is missing until the next time. */
static uint64_t read_others(struct cpu_clock *c, const struct budget_inputs *in)
{
	uint64_t sum = tracer__cpu_of_others(in->tracer);

	sum += read_living(c, in);
	return sum > c->others_start_ns ? sum - c->others_start_ns : 0;
}

uint64_t cpu_clock__read(struct cpu_clock *c, const struct budget_inputs *in, bool starting)
{
	uint64_t sum, held;

	if (starting) {
		c->others_start_ns = tracer__cpu_of_others(in->tracer);
		c->held_start_ns = tracer__held_ns(in->tracer);
		if (!in->target->processes_cnt)
			note_older(c);
	}
	for (size_t i = 0; starting && i < in->target->processes_cnt; i++)
		add(c, in->target->processes[i].pid, true);
	if (starting && in->target->processes_cnt && in->children)
		c->others_start_ns += read_living(c, in);
	sum = read_named(c, in);
	if (!in->target->processes_cnt || in->children)
		sum += read_others(c, in);
	held = tracer__held_ns(in->tracer) - c->held_start_ns;
	sum -= held < sum ? held : sum;
	if (sum > c->last_ns)
		c->last_ns = sum;
	return c->last_ns;
}

void cpu_clock__note_end(struct cpu_clock *c, pid_t pid)
{
	c->ended[c->ended_at++ % CPU_CLOCK_ENDED] = pid;
}

bool cpu_clock__has(const struct cpu_clock *c, pid_t pid)
{
	if (!pid)
		return false;
	for (size_t i = 0; i < c->cnt; i++) {
		if (c->processes[i].pid == pid)
			return !c->processes[i].ended;
	}
	for (size_t i = 0; i < c->pids_cnt; i++) {
		if (c->pids[i] == pid)
			return true;
	}
	for (size_t i = 0; i < CPU_CLOCK_ENDED; i++) {
		if (c->ended[i] == pid)
			return true;
	}
	return false;
}

void cpu_clock__clear(struct cpu_clock *c)
{
	free(c->processes);
	free(c->older);
	free(c->pids);
	*c = (struct cpu_clock){0};
}
