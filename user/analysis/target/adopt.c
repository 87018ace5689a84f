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

struct adopting {
	struct target *t;
	adopt_fn admit;
	void *ctx;
	uint64_t since; /* ticks */
	size_t left;
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
static int adopt(struct adopting *a, pid_t child, pid_t parent)
{
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

static int adopt_of_thread(struct adopting *a, pid_t pid, const char *tid)
{
	char path[320];
	int child, err = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid, tid);
	f = fopen(path, "re");
	while (!err && f && fscanf(f, "%d", &child) == 1)
		err = adopt(a, child, pid);
	if (f)
		fclose(f);
	return err;
}

int target__adopt(struct target *t, adopt_fn admit, void *ctx)
{
	struct adopting a = {t, admit, ctx, process__started(getpid()), MOST};
	int err = 0;

	/* With children of children, as the list grows. */
	for (size_t i = 0; !err && i < t->processes_cnt; i++) {
		const struct dirent *thread;
		char path[64];
		DIR *dir;

		snprintf(path, sizeof(path), "/proc/%d/task", t->pids[i]);
		dir = opendir(path);
		while (!err && dir && (thread = readdir(dir))) {
			if (thread->d_name[0] != '.')
				err = adopt_of_thread(&a, t->pids[i], thread->d_name);
		}
		if (dir)
			closedir(dir);
	}
	return err;
}
