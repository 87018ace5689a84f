// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/process.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "security/opener.h"
#include "util/io.h"
#include "util/log.h"
#include "util/text.h"

/* Fields of /proc/PID/stat, from 1 on. */
#define STAT_STATE   3
#define STAT_UTIME   14
#define STAT_STIME   15
#define STAT_STARTED 22
#define STAT_CPU     39
#define STAT_POLICY  41

#define INITIAL_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO in the kernel's proc_ns.h */
#define KERNEL_MINOR_BITS     20	  /* of a dev_t */

#define COMM_LEN 15 /* of a name in /proc, at most */

#define ALONE	     10 /* the others of a thread that is alone have less than this part */
#define MOST_THREADS 16 /* that process__busy_thread() looks at */

struct pid_namespace process__namespace(void)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PID_NAMESPACE)
		return (struct pid_namespace){0};
	return (struct pid_namespace){
		.ino = st.st_ino,
		.dev = (uint64_t)major(st.st_dev) << KERNEL_MINOR_BITS | minor(st.st_dev),
	};
}

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

/* Whether the control group of a process is frozen, of v2 or v1, where distributions mount them. */
static bool is_frozen(pid_t pid)
{
	static const struct {
		const char *membership, *mount, *file, *frozen;
	} kinds[] = {
		{"0::", "/sys/fs/cgroup", "cgroup.events", "frozen 1"},
		{"0::", "/sys/fs/cgroup/unified", "cgroup.events", "frozen 1"},
		{":freezer:", "/sys/fs/cgroup/freezer", "freezer.state", "FROZEN"},
	};
	char path[PATH_MAX], group[PATH_MAX / 2], rest[8];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
		if (!io__find_line(path, kinds[i].membership, group, sizeof(group)))
			continue;
		snprintf(path, sizeof(path), "%s%s/%s", kinds[i].mount, group, kinds[i].file);
		if (io__find_line(path, kinds[i].frozen, rest, sizeof(rest)))
			return true;
	}
	return false;
}

const char *process__halted(pid_t pid)
{
	struct process_status st;

	if (process__status(pid, &st))
		return NULL;
	if (st.state == 'T' || st.state == 't')
		return "stopped";
	return is_frozen(pid) ? "frozen" : NULL;
}

bool process__is_hidden(pid_t pid)
{
	struct process_status st;
	int fd = pid > 0 && process__status(pid, &st) ? syscall(SYS_pidfd_open, pid, 0) : -1;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int process__open(pid_t pid, int *pidfd)
{
	struct process_status st;
	int fd;

	if (process__is_hidden(pid)) {
		log_error("process %d" PROCESS_HIDDEN, pid);
		return -EPERM;
	}
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

/* Reads a file like /proc/PID/stat, with an end of string. False: there is no such file. */
static bool read_text(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");

	if (!f)
		return false;
	text[fread(text, 1, size - 1, f)] = '\0';
	fclose(f);
	return true;
}

/* The begin of a field of /proc/PID/stat, from STAT_STATE on; NULL: it is not there. */
static const char *stat_field(const char *text, int number)
{
	const char *at = strrchr(text, ')'); /* behind the name, which may have spaces */

	for (int field = 2; at && field < number; field++)
		at = strchr(at + 1, ' ');
	return at ? at + 1 : NULL;
}

static uint64_t stat_number(const char *text, int number)
{
	const char *at = stat_field(text, number);

	return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t process__started(pid_t pid)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return read_text(path, text, sizeof(text)) ? stat_number(text, STAT_STARTED) : 0;
}

/* A search for the one busy thread. */
struct busy {
	struct process_thread runs; /* tid 0: none does */
	struct process_thread most; /* the one with the most CPU time; tid 0: there is none */
	uint64_t ticks;		    /* CPU time of `most`, plus 1 */
	uint64_t runs_ticks;	    /* CPU time of `runs`, plus 1 */
	uint64_t sum;		    /* of all threads */
	unsigned threads;	    /* so far */
};

/* Looks at one thread, by its /proc/PID/task/TID/stat. False: there can be no answer. */
static bool busy_thread(struct busy *b, pid_t pid, const char *text)
{
	const char *state = stat_field(text, STAT_STATE);
	uint64_t ticks = stat_number(text, STAT_UTIME) + stat_number(text, STAT_STIME) + 1;
	unsigned policy = stat_number(text, STAT_POLICY);
	const struct process_thread t = {
		.pid = pid, .tid = atoi(text), .cpu = stat_number(text, STAT_CPU)};

	if (++b->threads > MOST_THREADS)
		return false;
	b->sum += ticks;
	if (!state)
		return true; /* it has ended */
	if (*state == 'R' && b->runs.tid && b->runs.cpu != t.cpu)
		return false;
	if (*state == 'R') {
		b->runs = t;
		b->runs_ticks = ticks;
	}
	if (*state != 'R' && ticks <= b->ticks)
		return true;
	if (ticks > b->ticks) {
		b->ticks = ticks;
		b->most = t;
	}
	return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

static bool read_thread(pid_t pid, pid_t tid, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	return read_text(path, text, size);
}

DIR *process__threads(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return opendir(path);
}

pid_t process__next_thread(DIR *threads)
{
	const struct dirent *entry;
	pid_t tid = 0;

	/* "." and ".." are no numbers. */
	while (threads && tid <= 0 && (entry = readdir(threads)))
		tid = atoi(entry->d_name);
	return tid;
}

static bool busy_process(struct busy *b, pid_t pid)
{
	DIR *threads = process__threads(pid);
	char text[1024];
	bool known = true;
	pid_t tid;

	while (known && (tid = process__next_thread(threads))) {
		if (read_thread(pid, tid, text, sizeof(text)))
			known = busy_thread(b, pid, text);
	}
	if (threads)
		closedir(threads);
	return known;
}

bool process__busy_thread(const pid_t *pids, size_t cnt, struct process_thread *out)
{
	struct busy b = {.ticks = 0};
	uint64_t ticks;

	for (size_t i = 0; i < cnt; i++) {
		if (!busy_process(&b, pids[i]))
			return false;
	}
	*out = b.runs.tid ? b.runs : b.most;
	ticks = b.runs.tid ? b.runs_ticks : b.ticks;
	out->alone = (b.sum - ticks) * ALONE < ticks;
	return out->tid;
}

/* A field of /proc/PID/task/TID/stat, which is read into `text`; NULL: the thread has ended. */
static const char *thread_field(const struct process_thread *t, int number, char *text, size_t size)
{
	return read_thread(t->pid, t->tid, text, size) ? stat_field(text, number) : NULL;
}

int process__thread_cpu(const struct process_thread *t)
{
	char text[1024];
	const char *cpu = thread_field(t, STAT_CPU, text, sizeof(text));

	return cpu ? atoi(cpu) : -1;
}

bool process__thread_runs(const struct process_thread *t)
{
	char text[1024];
	const char *state = thread_field(t, STAT_STATE, text, sizeof(text));

	return state && *state == 'R';
}

size_t process__asleep(pid_t pid)
{
	struct process_thread t = {.pid = pid};
	DIR *threads = process__threads(pid);
	size_t cnt = 0;
	bool runs = false;

	while (!runs && (t.tid = process__next_thread(threads))) {
		runs = process__thread_runs(&t);
		cnt++;
	}
	if (threads)
		closedir(threads);
	return runs ? 0 : cnt;
}

char *process__thread_place(const struct process_thread *t, char *buf, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/wchan", t->pid, t->tid);
	if (!read_text(path, buf, size) || !strcmp(buf, "0"))
		buf[0] = '\0';
	return buf;
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
	struct process_status st, tracer;

	if (process__status(pid, &st) || !st.tracer)
		return false;
	/* Whoever has just let it go, or is outside of our container, has no name. */
	return process__status(st.tracer, &tracer) ||
	       strncmp(tracer.comm, program_invocation_short_name, COMM_LEN) != 0;
}

void process__names(const pid_t *pids, size_t cnt, struct process_names *out)
{
	struct process_status st;

	for (out->cnt = 0; out->cnt < cnt && out->cnt < PROCESS_NAMES; out->cnt++) {
		process__status(pids[out->cnt], &st);
		out->pids[out->cnt] = pids[out->cnt];
		memcpy(out->names[out->cnt], st.comm, sizeof(st.comm));
	}
}

pid_t process__debugged_of(const struct process_names *of)
{
	for (size_t i = 0; i < of->cnt; i++) {
		if (process__is_debugged(of->pids[i]))
			return of->pids[i];
	}
	return 0;
}

static bool has_name_of(const struct process_names *of, const struct process_status *st)
{
	for (size_t i = 0; i < of->cnt; i++) {
		if (!strcmp(st->comm, of->names[i]))
			return true;
	}
	return false;
}

/* The first process in /proc that `fits`; 0: none does. */
static pid_t find_process(bool (*fits)(pid_t pid, const void *ctx), const void *ctx)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;

	while (dir && !found && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && fits(pid, ctx))
			found = pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool is_debugged_like(pid_t pid, const void *names)
{
	struct process_status st;

	return !process__status(pid, &st) && st.tracer && has_name_of(names, &st) &&
	       process__is_debugged(pid);
}

pid_t process__debugged_like(const struct process_names *of)
{
	pid_t found = process__debugged_of(of);

	return found ? found : find_process(is_debugged_like, of);
}

/* Whether a process's program was the file at `path`, which has been deleted or replaced. */
static bool ran_deleted(pid_t pid, const void *path)
{
	char link[64], exe[PATH_MAX + 16];

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	return !opener__read_link(link, exe, sizeof(exe)) && text_cut_deleted(exe) &&
	       !strcmp(exe, path);
}

pid_t process__of_replaced(const char *path)
{
	char whole[PATH_MAX];

	return realpath(path, whole) ? find_process(ran_deleted, whole) : 0;
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

uint64_t process__first_thread_ns(pid_t pid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	/* The file of a process is of its first thread alone. */
	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return ns;
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
