// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/process.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "security/opener.h"
#include "util/log.h"

#define STAT_STARTED 22 /* the field of /proc/PID/stat */

int process__status(pid_t pid, struct process_status *st)
{
	char path[64], line[256];
	FILE *f;

	*st = (struct process_status){0};
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Name:", 5))
			sscanf(line, "Name:\t%63[^\n]", st->comm);
		else if (!strncmp(line, "State:", 6))
			st->state = line[6 + strspn(line + 6, " \t")];
		else if (!strncmp(line, "Tgid:", 5))
			st->tgid = atoi(line + 5);
		else if (!strncmp(line, "TracerPid:", 10))
			st->tracer = atoi(line + 10);
		else if (!strncmp(line, "Uid:", 4))
			sscanf(line, "Uid: %*u %u", &st->uid);
		else if (!strncmp(line, "VmSize:", 7))
			st->has_mm = true;
		else if (!strncmp(line, "VmExe:", 6) || !strncmp(line, "VmLib:", 6))
			st->code_kb += atoi(line + 6);
	}
	fclose(f);
	return st->tgid ? 0 : -ESRCH;
}

int process__open(pid_t pid, int *pidfd)
{
	struct process_status st;
	int fd;

	if (pid <= 0 || process__status(pid, &st)) {
		log_error("no process with PID %d; `pgrep -a NAME` lists what runs", pid);
		return -ESRCH;
	}
	if (st.tgid != pid) {
		log_error("%d is a thread of process %d; use -p %d: all its threads are traced",
			  pid, st.tgid, st.tgid);
		return -ESRCH;
	}
	if (st.state == 'Z' || st.state == 'X') {
		log_error("process %d has ended (a zombie that its parent has not waited for)",
			  pid);
		return -ESRCH;
	}
	if (!st.has_mm) {
		log_error("%d is a kernel thread; only user processes can be traced", pid);
		return -EINVAL;
	}
	if (pid == getpid()) {
		log_error("%d is proftrace itself", pid);
		return -EINVAL;
	}
	fd = syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0) {
		int err = -errno;

		log_error("cannot watch process %d: %s", pid, strerror(-err));
		return err;
	}
	*pidfd = fd;
	return 0;
}

bool process__is_gone(pid_t pid)
{
	struct process_status st;

	return pid <= 0 || process__status(pid, &st) || st.state == 'Z' || st.state == 'X';
}

uint64_t process__started(pid_t pid)
{
	char path[64], text[1024], *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	at = strrchr(text, ')'); /* behind the name, the second field, which may have spaces */
	for (int field = 2; at && field < STAT_STARTED; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

uint32_t process__code_pages(pid_t pid)
{
	struct process_status st;

	return process__status(pid, &st) ? 0 : st.code_kb * 1024ull / sysconf(_SC_PAGESIZE);
}

bool process__has_ended(int pidfd)
{
	struct pollfd pfd = {pidfd, POLLIN, 0};

	return poll(&pfd, 1, 0) > 0;
}

bool process__is_debugged(pid_t pid)
{
	return process__is_debugged_by_another(pid, 0);
}

bool process__is_debugged_by_another(pid_t pid, pid_t launcher)
{
	struct process_status st;

	return !process__status(pid, &st) && st.tracer && st.tracer != launcher;
}

void process__root(pid_t pid, char *buf, size_t size)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/.", pid);
	buf[0] = '\0';
	if (stat("/", &ours) || opener__stat(path, &theirs))
		return;
	if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
		snprintf(buf, size, "/proc/%d/root", pid);
}

int process__cpu_ns(pid_t pid, uint64_t *ns)
{
	struct timespec ts;
	clockid_t clock;
	int err = clock_getcpuclockid(pid, &clock);

	if (err)
		return -err;
	if (clock_gettime(clock, &ts))
		return -errno;
	*ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
	return 0;
}
