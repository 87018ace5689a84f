// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/adopt.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "security/opener.h"
#include "target/process.h"
#include "target/target.h"
#include "target/target_data.h"

#define MOST 64 /* each is a descriptor, and may be a link for each group */

/* Is told of a child; returns 0 or -errno, which ends the look. */
typedef int (*child_fn)(void *ctx, pid_t child, pid_t parent);

struct adopting {
	struct target *t;
	adopt_fn admit;
	void *ctx;
	uint64_t since; /* ticks */
	size_t left;
};

struct counting {
	const struct target *t;
	uint64_t since; /* ticks */
	size_t cnt;
	pid_t parent; /* of one that was counted */
};

static bool runs_same(pid_t a, pid_t b)
{
	char path[2][64];
	struct stat st[2];

	snprintf(path[0], sizeof(path[0]), "/proc/%d/exe", a);
	snprintf(path[1], sizeof(path[1]), "/proc/%d/exe", b);
	return !opener__stat(path[0], &st[0]) && !opener__stat(path[1], &st[1]) &&
	       st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino;
}

/* Returns 0, also if it has ended by now, or -ENOMEM. */
static int adopt(void *ctx, pid_t child, pid_t parent)
{
	struct adopting *a = ctx;
	struct target *t = a->t;
	struct target_process *processes;
	pid_t *pids;
	int fd;

	if (!a->left || target__has(t, child) || process__started(child) < a->since ||
	    !runs_same(child, parent))
		return 0;
	processes = reallocarray(t->processes, t->processes_cnt + 1, sizeof(*processes));
	if (!processes)
		return -ENOMEM;
	t->processes = processes;
	pids = reallocarray(t->pids, t->processes_cnt + 1, sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	t->pids = pids;
	fd = syscall(SYS_pidfd_open, child, 0);
	/* Looked at once more, as by now the number may be another's. */
	if (fd < 0 || !runs_same(child, parent) ||
	    !a->admit(a->ctx, child, process__code_pages(parent))) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	processes[t->processes_cnt] = (struct target_process){child, fd};
	pids[t->processes_cnt++] = child;
	a->left--;
	return 0;
}

static int each_of_thread(pid_t pid, pid_t tid, child_fn found, void *ctx)
{
	char path[320];
	int child, err = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	f = fopen(path, "re");
	while (!err && f && fscanf(f, "%d", &child) == 1)
		err = found(ctx, child, pid);
	if (f)
		fclose(f);
	return err;
}

/* The children of all processes of the target, also of those that `found` adds to it. */
static int each_child(const struct target *t, child_fn found, void *ctx)
{
	int err = 0;

	for (size_t i = 0; !err && i < t->processes_cnt; i++) {
		DIR *threads = process__threads(t->pids[i]);
		pid_t tid;

		while (!err && (tid = process__next_thread(threads)))
			err = each_of_thread(t->pids[i], tid, found, ctx);
		if (threads)
			closedir(threads);
	}
	return err;
}

int target__adopt(struct target *t, adopt_fn admit, void *ctx)
{
	struct adopting a = {t, admit, ctx, process__started(getpid()), MOST};

	return each_child(t, adopt, &a);
}

/* A zombie has no program. */
static int count_outside(void *ctx, pid_t child, pid_t parent)
{
	struct counting *c = ctx;

	if (target__has(c->t, child) || process__started(child) >= c->since ||
	    !runs_same(child, parent))
		return 0;
	c->cnt++;
	c->parent = parent;
	return 0;
}

size_t target__children_outside(const struct target *t, pid_t *parent)
{
	struct counting c = {.t = t, .since = process__started(getpid())};

	each_child(t, count_outside, &c);
	*parent = c.parent;
	return c.cnt;
}
