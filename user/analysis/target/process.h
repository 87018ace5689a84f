/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One live process, checked before anything is attached to it; and whose numbers these are. */
#ifndef PROFTRACE_TARGET_PROCESS_H
#define PROFTRACE_TARGET_PROCESS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The PID namespace that proftrace is in. In one of its own (a container) processes have other
 * numbers than the kernel's, and those outside are not seen. */
struct pid_namespace {
	uint32_t ino; /* its inode; 0: it is the initial namespace */
	uint64_t dev; /* the device of that, as the kernel has it */
};

struct pid_namespace process__namespace(void);

/* A process whose program was the file at `path` until that was deleted, or another file was put in
 * its place, as the upgrade of a package does. 0: there is none. */
pid_t process__of_replaced(const char *path);

/* Whether a process is there, but not in /proc: with hidepid that shows only those that one may
 * trace, and who reads it here has no such right any more. Root's group sees all of them, but not
 * with hidepid=ptraceable. */
bool process__is_hidden(pid_t pid);
#define PROCESS_HIDDEN                                                                       \
	" is hidden, as /proc is mounted with hidepid; `mount -o remount,hidepid=invisible " \
	"/proc` shows processes to root, hidepid=0 to everybody"

/* Contents of /proc/PID/status. */
struct process_status {
	char comm[64], state;
	pid_t tgid, tracer; /* tracer 0: none */
	uid_t uid;	    /* the effective one */
	bool has_mm;	    /* kernel threads have none; neither have zombies */
	uint32_t code_kb;
};

/* Returns 0, -ESRCH or -errno: there is no such process. */
int process__status(pid_t pid, struct process_status *st);

/*
 * Makes sure that `pid` is a process that can be traced and returns a pidfd (readable once the
 * process has ended; the caller closes it) in *pidfd. Returns 0, or -ESRCH (no such process, a
 * thread's id, a zombie), -EINVAL (kernel thread, ourselves), -errno, with one line logged.
 */
int process__open(pid_t pid, int *pidfd);

/* Whether nobody has that number any more, or only a zombie. */
bool process__is_gone(pid_t pid);

/* Whether the process has ended: from then on its PID may be another one's. */
bool process__has_ended(int pidfd);

/* The threads of a process, to be gone through and closed by closedir(); NULL: it has ended. */
DIR *process__threads(pid_t pid);
/* The number of the next one; 0: there are no more, or `threads` is NULL. */
pid_t process__next_thread(DIR *threads);

struct process_thread {
	pid_t pid, tid;
	int cpu;    /* that it runs on, or ran on last */
	bool alone; /* from process__busy_thread(): the others have had next to no CPU time */
};

/*
 * Sets *out to the one thread that these processes are busy with: it runs, or nobody runs and it
 * has had the most CPU time. Where several take turns that is one of them; where the others have
 * had less than a tenth of its CPU time in all their lives, it is `alone`. False: there is none;
 * several run on different CPUs; there are more than 16 threads; or the thread's scheduling policy
 * is a real-time one, so that nobody else may get to run on its CPU.
 */
bool process__busy_thread(const pid_t *pids, size_t cnt, struct process_thread *out);

/* The number of the CPU on which the thread runs, or ran last; -1: it has ended. */
int process__thread_cpu(const struct process_thread *t);

/* Whether the thread runs, or would if it had a CPU: it waits for nothing else. */
bool process__thread_runs(const struct process_thread *t);

/* How many threads the process has, if none of them runs: else, and where it has ended, 0. */
size_t process__asleep(pid_t pid);

/* The name of the kernel's function in which the thread waits ("__synchronize_srcu"), "" if it does
 * not wait, or the kernel does not tell. Returns buf. */
char *process__thread_place(const struct process_thread *t, char *buf, size_t size);

/* Why a live process does not run: "stopped" (by a signal or a tracer) or "frozen" (by its control
 * group); NULL: it may run. */
const char *process__halted(pid_t pid);

/* Whether a debugger, or whoever else uses ptrace(2), is at the process. A proftrace that holds a
 * command of its own until that is traced is none: what it puts into the command's code is gone in
 * moments. Another run goes by the name of our program. */
bool process__is_debugged(pid_t pid);

#define PROCESS_NAMES 8

/* Some processes, with their names as of process__status(), "" if it had ended. */
struct process_names {
	pid_t pids[PROCESS_NAMES];
	char names[PROCESS_NAMES][64];
	size_t cnt;
};

/* Sets *out to the first of these processes, eight at most. */
void process__names(const pid_t *pids, size_t cnt, struct process_names *out);

/* One of these that a debugger is at; 0: none. */
pid_t process__debugged_of(const struct process_names *of);

/* Like process__debugged_of(), and any process that has the name of one of these, as children have
 * that they have forked. Looks at all processes of the machine, only at what everybody may read. */
pid_t process__debugged_like(const struct process_names *of);

/* The parent of /proc/PID/root-relative paths, into `buf`: "" if the process sees the same root
 * directory as we do. */
void process__root(pid_t pid, char *buf, size_t size);

/* When the process was begun, in ticks since the boot, and its pages of code; 0 if it has ended. */
uint64_t process__started(pid_t pid);
uint32_t process__code_pages(pid_t pid);

/* The CPU time that a live process has had, all threads together, in ns. Returns 0 or -errno. */
int process__cpu_ns(pid_t pid, uint64_t *ns);

/* CPU time, in ns, that its first thread has had; 0: not known. */
uint64_t process__first_thread_ns(pid_t pid);

#endif
