// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/spare.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/links/closer.h"
#include "attach/links/cpus/quiet.h"

static void close_all(int kept)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	struct closer *closer;

	if (!dir || closer__new(&closer)) {
		if (dir)
			closedir(dir);
		return;
	}
	while ((entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd > kept && fd != dirfd(dir))
			closer__close(closer, fd, 0);
	}
	closer__drain(closer);
	closedir(dir);
}

static void wait_for_death(pid_t parent, int kept)
{
	sigset_t death;

	sigemptyset(&death);
	sigaddset(&death, SIGALRM);
	sigprocmask(SIG_BLOCK, &death, NULL);
	prctl(PR_SET_NAME, "proftrace-spare");
	if (prctl(PR_SET_PDEATHSIG, SIGALRM))
		return;
	while (getppid() == parent) {
		sigwaitinfo(&death, NULL);
		quiet__let_end(parent); /* its last thread may not have ended yet */
	}
	close_all(kept);
}

pid_t spare__start(int kept)
{
	pid_t parent = getpid(), pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

	if (!pid) {
		wait_for_death(parent, kept);
		_exit(0);
	}
	return pid;
}

void spare__end(pid_t spare)
{
	if (spare <= 0)
		return;
	kill(spare, SIGKILL);
	while (waitpid(spare, NULL, 0) < 0 && errno == EINTR)
		;
}
