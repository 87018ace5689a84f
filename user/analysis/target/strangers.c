// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/strangers.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "target/maps.h"
#include "target/process.h"
#include "target/target.h"

/* A limit on CPU time of our own, so that it does not depend on what else runs: 10,000 processes or
 * so. */
#define MOST_NS 1000000000ull

/* Other processes of the same program: putting probes in takes a little longer for each. A
 * library's other users have work of their own: each compiler that maps libLLVM would take ten
 * times as long while all of its functions are being probed for one. */
#define MOST_OF_PROGRAM 16

struct look {
	struct target *t;
	pid_t pid;
	size_t first; /* the first object that is not known yet */
	int debugged; /* a debugger is at the process; -1: not asked yet */
};

static int note_file(const struct mapped_file *file, void *ctx)
{
	struct look *l = ctx;

	for (size_t i = l->first; i < l->t->objects_cnt; i++) {
		struct target_object *obj = &l->t->objects[i];

		if (obj->ino != file->ino || obj->dev_major != file->dev_major ||
		    obj->dev_minor != file->dev_minor)
			continue;
		if (l->debugged < 0)
			l->debugged = process__is_debugged(l->pid);
		obj->strangers++;
		obj->strangers_fragile |= l->debugged || l->t->shadow_stacks_possible;
	}
	return 0;
}

static bool is_stranger(const struct target *t, pid_t pid)
{
	for (size_t i = 0; i < t->processes_cnt; i++) {
		if (t->processes[i].pid == pid)
			return false;
	}
	return pid > 0 && pid != getpid();
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void strangers__look(struct target *t)
{
	struct look l = {.t = t, .first = t->strangers_known};
	const uint64_t until_ns = cpu_ns() + MOST_NS;
	const bool hidden = process__namespace().ino != 0;
	DIR *dir = NULL;
	const struct dirent *entry;
	bool known;

	if (t->strangers_known == t->objects_cnt)
		return;
	dir = opendir("/proc");
	known = dir;
	for (size_t i = l.first; i < t->objects_cnt; i++)
		t->objects[i].strangers = 0;
	while (known && (entry = readdir(dir))) {
		l.pid = atoi(entry->d_name);
		l.debugged = -1;
		/* A process that has ended, or may not be looked at (because of a security module),
		 * does not count. */
		if (is_stranger(t, l.pid))
			maps__for_each(l.pid, note_file, &l);
		known = cpu_ns() < until_ns;
	}
	if (dir)
		closedir(dir);
	for (size_t i = l.first; i < t->objects_cnt; i++) {
		/* Another container may map the libraries of its image; few run its program. */
		if (!known || (hidden && !t->objects[i].is_main))
			t->objects[i].strangers = STRANGERS_UNKNOWN;
	}
	t->strangers_known = t->objects_cnt;
}

bool strangers__bear_probes(const struct target_object *obj)
{
	return obj->strangers <= (obj->is_main ? MOST_OF_PROGRAM : 0) && !obj->strangers_fragile;
}
