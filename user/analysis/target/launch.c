// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command is a ptrace child until launch__release(). It stops at its exec; then breakpoints
 * take it to where the dynamic linker tells debuggers that all libraries are mapped
 * (_dl_debug_state), which lies before the first constructor, or to the program's entry point,
 * whichever comes first. A static program needs no breakpoint. Until then it has run no code of its
 * own, so it may be killed if we end (PTRACE_O_EXITKILL); once released it goes on whatever happens
 * to us.
 */
#include "target/launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/breakpoint.h"
#include "elf/elf_image.h"
#include "elf/lookup.h"
#include "security/apart.h"
#include "security/opener.h"
#include "security/privilege.h"
#include "target/maps.h"
#include "util/log.h"
#include "util/signals.h"

struct launch {
	pid_t pid;
	bool held; /* stopped under ptrace */
	bool reaped;
	int report; /* what exec failed by comes here; -1: nothing any more */
	int status; /* as a shell tells it, once reaped */
};

/*
 * The child. Reports through `report`, which exec closes, whether it is traced, and then what else
 * fails: 0 or -errno. Traced while it still
 * has our privileges, because the kernel takes those it has then for the tracer's: without them it
 * would run a set-user-ID program, as sudo, as an ordinary one.
 */
static void child_exec(char *const argv[], int report)
{
	int err = ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? -errno : 0;

	if (!err && write(report, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	if (!err)
		err = privilege__become_caller();
	if (!err) {
		signals__restore();
		execvp(argv[0], argv);
		err = -errno;
	}
	err = write(report, &err, sizeof(err)) == sizeof(err) ? 127 : 126;
	_exit(err);
}

static int status_of(int wstatus)
{
	return WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) : WEXITSTATUS(wstatus);
}

/* Waits until the child stops with `sig`, passing on what else arrives. Returns 0, or -ECHILD if it
 * ended instead. */
static int wait_stop(struct launch *l, int sig)
{
	int wstatus;

	for (;;) {
		if (waitpid(l->pid, &wstatus, __WALL) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (!WIFSTOPPED(wstatus)) {
			l->reaped = true;
			l->status = status_of(wstatus);
			return -ECHILD;
		}
		if (WSTOPSIG(wstatus) == sig)
			return 0;
		ptrace(PTRACE_CONT, l->pid, NULL, WSTOPSIG(wstatus));
	}
}

struct breakpoint {
	uint64_t addr; /* 0: none */
	long word;     /* what stood there */
};

static int breakpoint_set(pid_t pid, struct breakpoint *bp)
{
	long put;

	if (!bp->addr)
		return 0;
	errno = 0;
	bp->word = ptrace(PTRACE_PEEKTEXT, pid, bp->addr, NULL);
	if (errno)
		return -errno;
	put = breakpoint__put_into(bp->word);
	/* A probe of another profiler stands there: the kernel keeps its hits to itself. Written
	 * back after that profiler has left, its breakpoint would kill the command. */
	if (put == bp->word)
		bp->addr = 0;
	return bp->addr && ptrace(PTRACE_POKETEXT, pid, bp->addr, put) ? -errno : 0;
}

static int breakpoint_clear(pid_t pid, const struct breakpoint *bp)
{
	return bp->addr && ptrace(PTRACE_POKETEXT, pid, bp->addr, bp->word) ? -errno : 0;
}

/* Reads two entries of the child's auxiliary vector. */
static int auxv_read(pid_t pid, uint64_t *base, uint64_t *entry)
{
	uint64_t pair[2];
	char path[64];
	FILE *f;

	*base = *entry = 0;
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = opener__fopen(path);
	if (!f)
		return -errno;
	while (fread(pair, sizeof(pair), 1, f) == 1) {
		if (pair[0] == AT_BASE)
			*base = pair[1];
		else if (pair[0] == AT_ENTRY)
			*entry = pair[1];
	}
	fclose(f);
	return 0;
}

/* A look at the mappings: how many files, and the dynamic linker's notification function. */
struct mapped_view {
	pid_t pid;
	uint64_t base; /* the dynamic linker's */
	size_t files;
	uint64_t notify; /* 0: not found */
};

static int view_file(const struct mapped_file *file, void *ctx)
{
	struct mapped_view *view = ctx;
	static const char *const notify[] = {"_dl_debug_state"};
	struct elf_image *img = NULL;
	uint64_t vaddr;
	int fd;

	view->files++;
	/* Shared objects are linked at 0, so the load address and the code lie close together. */
	if (view->notify || file->start < view->base || file->start - view->base > (1 << 24))
		return 0;
	fd = maps__open(view->pid, file);
	if (fd < 0)
		return 0;
	if (!elf_image__try(fd, file->path, &img) && symbol_lookup(img, notify, 1, &vaddr))
		view->notify = view->base + vaddr;
	elf_image__free(img);
	close(fd);
	return 0;
}

static size_t mapped_files(pid_t pid)
{
	struct mapped_view view = {.pid = pid, .notify = 1};

	maps__for_each(pid, view_file, &view);
	return view.files;
}

/* Steps the stopped child over the breakpoint it has just hit, which is taken out. */
static int step_over(struct launch *l, struct breakpoint *bp)
{
	int err = breakpoint_clear(l->pid, bp);

	if (!err && ptrace(PTRACE_SINGLESTEP, l->pid, NULL, NULL))
		err = -errno;
	return err ? err : wait_stop(l, SIGTRAP);
}

/* Runs the child from its exec to the point where its libraries are mapped. */
static int run_to_libraries(struct launch *l)
{
	struct breakpoint entry = {0}, notify = {0};
	struct mapped_view view = {.pid = l->pid};
	uint64_t at = 0;
	int err, hits = 0;

	err = auxv_read(l->pid, &view.base, &entry.addr);
	if (err || !view.base)
		return err;
	maps__for_each(l->pid, view_file, &view);
	notify.addr = view.notify;
	err = breakpoint_set(l->pid, &entry);
	if (!err)
		err = breakpoint_set(l->pid, &notify);
	while (!err) {
		if (ptrace(PTRACE_CONT, l->pid, NULL, NULL))
			return -errno;
		err = wait_stop(l, SIGTRAP);
		if (!err)
			err = breakpoint__hit(l->pid, &at);
		if (err)
			return err;
		/* glibc notifies before and after mapping, musl only after. */
		if (at == entry.addr || ++hits == 2 || mapped_files(l->pid) > 2)
			break;
		err = step_over(l, &notify);
		if (!err)
			err = breakpoint_set(l->pid, &notify);
	}
	if (!err)
		err = breakpoint_clear(l->pid, &entry);
	/* Beyond the first instruction: what it has to say is known, and a probe there shall not
	 * say it again. */
	if (!err)
		err = at == entry.addr ? breakpoint_clear(l->pid, &notify) : step_over(l, &notify);
	return err;
}

static int start_failed(const char *name, int err)
{
	if (err == -ENOENT && strchr(name, '/') && !access(name, F_OK))
		log_error("cannot run %s: what it names as its interpreter is missing", name);
	else if (err == -ENOENT)
		log_error("%s: command not found", name);
	else
		log_error("cannot run %s: %s", name, apart__why_not(err));
	return err;
}

int launch__fork(char *const argv[], struct launch **out)
{
	struct launch *l = calloc(1, sizeof(*l));
	int report[2], err;

	if (!l || pipe2(report, O_CLOEXEC)) {
		err = l ? -errno : -ENOMEM;
		free(l);
		return start_failed(argv[0], err);
	}
	l->pid = fork();
	if (l->pid == 0)
		child_exec(argv, report[1]);
	err = l->pid < 0 ? -errno : 0;
	close(report[1]);
	l->report = report[0];
	/* The child asks to be traced while we have the privileges for that; wait until it has. */
	if (!err && read(l->report, &err, sizeof(err)) != sizeof(err))
		err = -ECHILD;
	if (err) {
		if (l->pid > 0)
			waitpid(l->pid, NULL, 0);
		close(l->report);
		free(l);
		return start_failed(argv[0], err);
	}
	*out = l;
	return 0;
}

int launch__start(struct launch *l, const char *name, int *status)
{
	int failed = 0, err = wait_stop(l, SIGTRAP);

	if (l->reaped && read(l->report, &failed, sizeof(failed)) == sizeof(failed))
		err = failed;
	close(l->report);
	l->report = -1;
	if (!err) {
		l->held = true;
		ptrace(PTRACE_SETOPTIONS, l->pid, NULL, PTRACE_O_EXITKILL);
		err = run_to_libraries(l);
	}
	if (!err)
		return 0;
	if (l->reaped && !failed) {
		log_error("%s ended (status %d) before it could be traced", name, l->status);
		*status = l->status;
		return err;
	}
	return start_failed(name, err);
}

pid_t launch__pid(const struct launch *l)
{
	return l->pid;
}

bool launch__is_script(const struct launch *l, const char *name)
{
	char path[64], first[4096];
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", l->pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	len = fread(first, 1, sizeof(first) - 1, f);
	fclose(f);
	first[len] = '\0';
	/* In place of a script's name the kernel puts its interpreter's. */
	return len && strcmp(first, name) != 0;
}

int launch__release(struct launch *l)
{
	if (ptrace(PTRACE_DETACH, l->pid, NULL, NULL))
		return -errno;
	l->held = false;
	return 0;
}

/* Ends the tracing of a child that has stopped under ptrace, and hands it the signal. */
static void let_go(pid_t tid, int sig)
{
	siginfo_t info = {0};

	/* A process that has asked to be traced (PTRACE_TRACEME) also stops at an exec, by a signal
	 * that nobody has sent. */
	if (sig == SIGTRAP && (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) ||
			       (info.si_code == SI_USER && info.si_pid == tid)))
		sig = 0;
	ptrace(PTRACE_DETACH, tid, NULL, sig);
}

void launch__let_go(void)
{
	siginfo_t info;

	/* Others of our children do not stop under ptrace, and their ends are not taken. */
	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | __WALL) || !info.si_pid)
			return;
		let_go(info.si_pid, info.si_status & 0x7f);
	}
}

bool launch__ended(struct launch *l, bool block, int *status)
{
	int wstatus;
	pid_t got;

	while (!l->reaped) {
		got = waitpid(l->pid, &wstatus, block ? 0 : WNOHANG);
		if (got < 0 && errno == EINTR && !block)
			continue;
		if (got <= 0)
			return false;
		if (WIFSTOPPED(wstatus)) {
			let_go(l->pid, WSTOPSIG(wstatus));
			continue;
		}
		l->reaped = true;
		l->status = status_of(wstatus);
	}
	*status = l->status;
	return true;
}

void launch__free(struct launch *l)
{
	if (!l)
		return;
	if (l->report >= 0)
		close(l->report);
	/* Another user's may not be sent a signal, but who traces it may end it. */
	if (l->held && !l->reaped) {
		ptrace(PTRACE_KILL, l->pid, NULL, NULL);
		waitpid(l->pid, NULL, __WALL);
	}
	free(l);
}
