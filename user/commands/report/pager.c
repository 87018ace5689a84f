// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "security/open_files.h"
#include "security/privilege.h"
#include "util/signals.h"

#define ROWS_USUAL 24
#define NOT_RUN	   126 /* from here on a shell says that a command could not be run */
#define NOT_FOUND  127

struct pager {
	pid_t pid;
	int fd; /* what it shows; -1: closed */
};

/* Whether a program of that name can be found. */
static bool is_there(const char *name)
{
	const char *path = getenv("PATH");
	char file[4096];

	for (size_t len; path && *path; path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		if (snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, name) <
			    (int)sizeof(file) &&
		    !access(file, X_OK))
			return true;
	}
	return false;
}

/* The shell's command; NULL: none is wanted, or there. */
static const char *command(void)
{
	const char *text = getenv("PROFTRACE_PAGER");

	if (!text)
		text = getenv("PAGER");
	if (!text)
		text = is_there("less") ? "less" : "";
	return *text && strcmp(text, "cat") != 0 ? text : NULL;
}

/* The process: holds nothing of ours but the pipe, or the kernel would take us for alive. */
static void wait_and_show(const char *pager, int fd)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	sigset_t none;

	signal(SIGINT, SIG_IGN); /* it ends the tracing, and the result is shown then */
	signal(SIGQUIT, SIG_IGN);
	sigemptyset(&none);
	if (dup2(fd, STDIN_FILENO) < 0 || sigprocmask(SIG_SETMASK, &none, NULL) ||
	    privilege__become_caller())
		_exit(NOT_RUN);
	open_files__close_from(STDERR_FILENO + 1);
	privilege__drop_all();
	while (poll(&input, 1, -1) < 0 && errno == EINTR)
		;
	if (!(input.revents & POLLIN))
		_exit(0);
	signals__restore();
	signal(SIGQUIT, SIG_DFL);
	setenv("LESS", "FRX", 0); /* ends at once if all fits, keeps colours and the screen */
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", pager, NULL);
	_exit(NOT_FOUND);
}

struct pager *pager__new(void)
{
	const char *pager = command();
	struct pager *p = pager ? calloc(1, sizeof(*p)) : NULL;
	int ends[2];

	if (!p || pipe2(ends, O_CLOEXEC)) {
		free(p);
		return NULL;
	}
	p->fd = ends[1];
	p->pid = fork();
	if (!p->pid)
		wait_and_show(pager, ends[0]);
	close(ends[0]);
	if (p->pid > 0)
		return p;
	close(ends[1]);
	free(p);
	return NULL;
}

bool pager__is_long(const char *text, size_t len)
{
	struct winsize size;
	size_t rows = ROWS_USUAL, lines = 0;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row)
		rows = size.ws_row;
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	return lines >= rows; /* a line is the shell's prompt */
}

static void send_text(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t sent = write(fd, text, len);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return; /* it has been quit */
		text += sent;
		len -= sent;
	}
}

/* Returns its status as a shell tells it. */
static int wait_for(struct pager *p)
{
	int status = 0;

	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	while (p->pid && waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

bool pager__show(struct pager *p, const char *text, size_t len)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit, broken;
	int status;

	/* These keys are the pager's now. */
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	sigaction(SIGPIPE, &ignore, &broken);
	send_text(p->fd, text, len);
	status = wait_for(p);
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	sigaction(SIGPIPE, &broken, NULL);
	return status != NOT_RUN && status != NOT_FOUND;
}

void pager__free(struct pager *p)
{
	if (!p)
		return;
	wait_for(p);
	free(p);
}
