// SPDX-License-Identifier: GPL-2.0-or-later
#include "slo/on_slow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "security/privilege.h"
#include "util/log.h"
#include "util/signals.h"

#define WORDS_MAX    64
#define WHY_SIZE     4096
#define BLANKS	     " \t\n"
#define GRACE_MS     1000 /* from SIGTERM to SIGKILL */
#define NOT_FOUND    127
#define NAME_COLUMNS 60

struct request {
	char path[PATH_MAX];
	char why[WHY_SIZE];
};

struct answer {
	int status; /* of wait(2) */
	int timed_out;
	int err; /* it could not be started */
};

struct on_slow {
	const char *command;
	int limit_ms;
	pid_t pid;
	int channel; /* -1: the process has gone */
	bool busy;
	int cut_ms; /* what runs has been given so long at the end of the run; 0: it is not cut */
};

/* Runs the command in this process, which is a child. */
static void become(const char *command, const struct request *q)
{
	char *text = strdup(command), *words[WORDS_MAX + 2], *rest = NULL;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t cnt = 0;

	for (char *word = text ? strtok_r(text, BLANKS, &rest) : NULL; word && cnt < WORDS_MAX;
	     word = strtok_r(NULL, BLANKS, &rest))
		words[cnt++] = word;
	words[cnt++] = (char *)q->path;
	words[cnt] = NULL;
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	setenv("PROFTRACE_WHY", q->why, 1);
	signals__restore();
	if (text)
		execvp(words[0], words);
	_exit(NOT_FOUND);
}

/* Waits so long for the child, or until nobody sends on the channel any more: the run has ended.
 * Returns whether the child has. */
static bool ends_within(int pidfd, int channel, int ms)
{
	struct pollfd fds[] = {{.fd = pidfd, .events = POLLIN},
			       {.fd = channel, .events = POLLRDHUP}};
	int n;

	do
		n = poll(fds, channel < 0 ? 1 : 2, ms);
	while (n < 0 && errno == EINTR);
	return n > 0 && (fds[0].revents & POLLIN);
}

static void run_command(const struct on_slow *s, const struct request *q, int channel,
			struct answer *a)
{
	pid_t pid = fork();
	int pidfd;

	*a = (struct answer){0};
	if (!pid)
		become(s->command, q);
	pidfd = pid < 0 ? -1 : syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		a->err = errno;
		if (pid < 0)
			return;
		kill(pid, SIGKILL);
	} else if (!ends_within(pidfd, channel, s->limit_ms)) {
		a->timed_out = 1;
		/* Its group, which setsid() has made; if it has not come so far, it alone. */
		if (kill(-pid, SIGTERM))
			kill(pid, SIGTERM);
		if (!ends_within(pidfd, -1, GRACE_MS))
			kill(pid, SIGKILL);
		kill(-pid, SIGKILL);
	}
	while (waitpid(pid, &a->status, 0) < 0 && errno == EINTR)
		;
	if (pidfd >= 0)
		close(pidfd);
}

static void serve(const struct on_slow *s, int channel)
{
	static struct request q;
	struct answer a;
	ssize_t n;

	prctl(PR_SET_NAME, "proftrace-slow");
	/* Ctrl-C is for the run, which goes on to its end; and we end with it. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	if (privilege__become_caller())
		_exit(1);
	for (;;) {
		n = recv(channel, &q, sizeof(q), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(q))
			_exit(0);
		run_command(s, &q, channel, &a);
		if (send(channel, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
			_exit(0);
	}
}

int on_slow__start(const char *command, int limit_ms, struct on_slow **out)
{
	struct on_slow *s = calloc(1, sizeof(*s));
	int ends[2], err = s ? 0 : -ENOMEM;

	if (!err && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		err = -errno;
	if (err) {
		log_error("--on-slow: %s", strerror(-err));
		free(s);
		return err;
	}
	s->command = command;
	s->limit_ms = limit_ms;
	s->pid = fork();
	if (!s->pid) {
		close(ends[0]);
		serve(s, ends[1]);
	}
	close(ends[1]);
	s->channel = ends[0];
	if (s->pid < 0) {
		err = -errno;
		log_error("--on-slow: %s", strerror(-err));
		s->pid = 0;
		on_slow__free(s);
		return err;
	}
	*out = s;
	return 0;
}

void on_slow__free(struct on_slow *s)
{
	if (!s)
		return;
	if (s->channel >= 0)
		close(s->channel);
	if (s->pid > 0)
		waitpid(s->pid, NULL, 0);
	free(s);
}

static void lose(struct on_slow *s)
{
	log_warn("--on-slow: the process that runs it has ended: it is not run any more");
	close(s->channel);
	s->channel = -1;
	s->busy = false;
}

static void tell(const struct on_slow *s, const struct answer *a)
{
	int width = NAME_COLUMNS;
	const char *name = s->command;

	if (a->err)
		log_warn("--on-slow %.*s: it could not be run: %s", width, name, strerror(a->err));
	else if (a->timed_out && s->cut_ms)
		log_warn("--on-slow %.*s: it was ended with the run, as it went on for %g s after "
			 "that; what is to take longer, it has to start by setsid",
			 width, name, s->cut_ms / 1e3);
	else if (a->timed_out)
		log_warn("--on-slow %.*s: it was ended, as it took longer than %g s", width, name,
			 s->limit_ms / 1e3);
	else if (WIFSIGNALED(a->status))
		log_warn("--on-slow %.*s: signal %d has ended it", width, name,
			 WTERMSIG(a->status));
	else if (WEXITSTATUS(a->status) == NOT_FOUND)
		log_warn("--on-slow %.*s: no such command, or it has the exit status 127", width,
			 name);
	else if (WEXITSTATUS(a->status))
		log_warn("--on-slow %.*s: exit status %d", width, name, WEXITSTATUS(a->status));
	else
		log_debug("--on-slow %.*s: done", width, name);
}

static void look(struct on_slow *s, bool wait)
{
	struct answer a;
	ssize_t n;

	if (!s || !s->busy || s->channel < 0)
		return;
	do
		n = recv(s->channel, &a, sizeof(a), wait ? 0 : MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n != sizeof(a)) {
		lose(s);
		return;
	}
	s->busy = false;
	tell(s, &a);
}

void on_slow__look(struct on_slow *s)
{
	look(s, false);
}

void on_slow__finish(struct on_slow *s, int ms)
{
	struct pollfd fd = {.events = POLLIN};
	int n;

	if (!s || !s->busy || s->channel < 0)
		return;
	fd.fd = s->channel;
	do
		n = poll(&fd, 1, ms);
	while (n < 0 && errno == EINTR);
	if (!n) {
		s->cut_ms = ms;
		shutdown(s->channel, SHUT_WR);
	}
	look(s, true);
}

void on_slow__run(struct on_slow *s, const char *path, const char *why)
{
	static struct request q;

	on_slow__look(s);
	if (!s || s->channel < 0)
		return;
	if (s->busy) {
		log_warn("--on-slow %.*s: not run for %s, as the one before still runs",
			 NAME_COLUMNS, s->command, path);
		return;
	}
	memset(&q, 0, sizeof(q));
	snprintf(q.path, sizeof(q.path), "%s", path);
	snprintf(q.why, sizeof(q.why), "%s", why);
	if (send(s->channel, &q, sizeof(q), MSG_NOSIGNAL) != sizeof(q))
		lose(s);
	else
		s->busy = true;
}
