// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/stats.h"
#include "sink/sink.h"
#include "sink/text/cpu_shares.h"
#include "sink/text/printer.h"
#include "util/text.h"

#define SHOWN_MAX   5 /* processes */
#define SHOWN_SHARE 0.01

struct process {
	pid_t pid;
	const char *comm; /* of its first thread, if that is known, else of another */
	uint64_t cpu_ns;
};

static uint64_t cpu_ns(const struct profile *p, const struct profile_thread *t)
{
	uint64_t sum = 0;

	for (uint32_t n = t->first_root; n; n = p->nodes[n].next_sibling)
		sum += stats__cpu_ns(&p->nodes[n].stats);
	return sum;
}

static int compare_pids(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->pid != y->pid ? x->pid < y->pid ? -1 : 1 : 0;
}

/* Dearest first. */
static int compare_times(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns > y->cpu_ns ? -1 : 1;
	return compare_pids(a, b);
}

/* One for each thread with a time, `cnt` of them, become one for each process. Returns how many. */
static size_t join(struct process *all, size_t cnt)
{
	size_t joined = 0;

	qsort(all, cnt, sizeof(*all), compare_pids);
	for (size_t i = 0; i < cnt; i++) {
		if (!i || all[i].pid != all[joined - 1].pid) {
			all[joined++] = all[i];
			continue;
		}
		all[joined - 1].cpu_ns += all[i].cpu_ns;
		if (!all[joined - 1].comm)
			all[joined - 1].comm = all[i].comm;
	}
	return joined;
}

static size_t sum(const struct profile *p, struct process *all)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->threads_cnt; i++) {
		const struct profile_thread *t = &p->threads[i];

		if (t->pid && t->first_root && !t->spans)
			all[cnt++] = (struct process){t->pid, t->pid == t->tid ? t->comm : NULL,
						      cpu_ns(p, t)};
	}
	cnt = join(all, cnt);
	qsort(all, cnt, sizeof(*all), compare_times);
	return cnt;
}

static int print_process(struct printer *pr, const struct process *x, const char *before)
{
	int width = 0;

	/* A name is said once for all that follow. */
	if (x->comm && (!before || strcmp(x->comm, before) != 0)) {
		width = printer__name(pr, x->comm, sizeof(((struct profile_thread *)0)->comm));
		fputc(' ', pr->out);
	}
	fprintf(pr->out, "%d", x->pid);
	return width < 0 ? width : 0;
}

static int print(struct printer *pr, const struct process *all, size_t cnt)
{
	const char *between = pr->profile->sample_period_ns ? "CPU time by process:"
							    : "CPU time of calls by process:";
	const char *before = NULL;
	double whole = 0, rest;
	char percent[32], text[32];
	size_t i;
	int err = 0;

	for (i = 0; i < cnt; i++)
		whole += (double)all[i].cpu_ns;
	if (cnt < 2 || !(whole > 0))
		return 0;
	rest = whole;
	for (i = 0; !err && i < cnt && i < SHOWN_MAX; i++, between = ",") {
		double part = (double)all[i].cpu_ns;

		if (part < SHOWN_SHARE * whole)
			break;
		fprintf(pr->out, "%s %s ", between,
			text_percent(100 * part / whole, percent, sizeof(percent)));
		err = print_process(pr, &all[i], before);
		before = all[i].comm ? all[i].comm : before;
		rest -= part;
	}
	if (i < cnt)
		fprintf(pr->out, "%s %s %s other%s", between,
			text_percent(100 * rest / whole, percent, sizeof(percent)),
			text_count(cnt - i, text, sizeof(text)), cnt - i == 1 ? "" : "s");
	fputs(pr->unmerged && !pr->opts->process_frames && !pr->opts->live
		      ? " (--process-frames: a tree of each)\n"
		      : "\n",
	      pr->out);
	return err;
}

int cpu_shares__print_processes(struct printer *pr)
{
	const struct profile *p = pr->unmerged ? pr->unmerged : pr->profile;
	struct process *all;
	int err;

	if (!cpu_shares__known(p))
		return 0;
	all = calloc(p->threads_cnt + 1, sizeof(*all));
	err = all ? print(pr, all, sum(p, all)) : -ENOMEM;
	free(all);
	return err;
}
