// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/array.h"
#include "util/log.h"
#include "util/privilege.h"

struct keeper {
	pid_t pid;
	int socket;
};

/* What is asked for; offsets and cookies follow. The program's and the file's descriptors go along.
 * cnt 0: close all links. The answer is an int: 0 or -errno. */
struct request {
	int attach_type, return_probes;
	pid_t pid;
	uint32_t cnt;
};

enum { FD_PROGRAM, FD_OBJECT, FDS };

#define MAX_COUNT (1u << 20) /* of probes in a link: the kernel's limit */

/* Sends or receives all of it. False: the other side has gone. */
static bool move_all(int fd, void *data, size_t len, bool out)
{
	char *at = data;

	while (len) {
		ssize_t n = out ? send(fd, at, len, MSG_NOSIGNAL) : recv(fd, at, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= n;
	}
	return true;
}

static bool send_all(int fd, const void *data, size_t len)
{
	return move_all(fd, (void *)data, len, true);
}

static bool receive_all(int fd, void *data, size_t len)
{
	return move_all(fd, data, len, false);
}

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(FDS * sizeof(int))];
};

static bool send_request(int fd, const struct request *req, const int fds[FDS])
{
	union control control = {0};
	struct iovec iov = {(void *)req, sizeof(*req)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (req->cnt) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(FDS * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, FDS * sizeof(int));
	}
	do
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*req);
}

static bool receive_request(int fd, struct request *req, int fds[FDS])
{
	union control control = {0};
	struct iovec iov = {req, sizeof(*req)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	ssize_t n;

	fds[FD_PROGRAM] = fds[FD_OBJECT] = -1;
	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*req) || req->cnt > MAX_COUNT)
		return false;
	if (control.header.cmsg_type == SCM_RIGHTS &&
	    control.header.cmsg_len == CMSG_LEN(FDS * sizeof(int)))
		memcpy(fds, CMSG_DATA(&control.header), FDS * sizeof(int));
	return true;
}

struct links {
	int *fds;
	size_t cnt, cap;
};

static void links_close(struct links *l)
{
	while (l->cnt)
		close(l->fds[--l->cnt]);
}

/* One link by the request. Returns 0 or -errno; false in *alive if the other side has gone. */
static int link_one(int socket, struct links *links, const struct request *req, const int fds[FDS],
		    bool *alive)
{
	uint64_t *values = malloc(2 * req->cnt * sizeof(*values));
	const struct link_spec spec = {
		.prog_fd = fds[FD_PROGRAM],
		.attach_type = req->attach_type,
		.return_probes = req->return_probes,
		.object_fd = fds[FD_OBJECT],
		.pid = req->pid,
		.offsets = values,
		.cookies = values + req->cnt,
		.cnt = req->cnt,
	};
	int err = 0;

	*alive = values && receive_all(socket, values, 2 * req->cnt * sizeof(*values));
	if (*alive && ARRAY_RESERVE(&links->fds, links->cnt, &links->cap))
		err = -ENOMEM;
	if (*alive && !err)
		err = link__create(&spec);
	if (*alive && err >= 0) {
		links->fds[links->cnt++] = err;
		err = 0;
	}
	free(values);
	return err;
}

/* Serves until the other side has gone. */
static void serve(int socket)
{
	struct links links = {0};
	struct request req;
	int fds[FDS], err;
	bool alive = true;

	while (alive && receive_request(socket, &req, fds)) {
		err = 0;
		if (req.cnt)
			err = link_one(socket, &links, &req, fds, &alive);
		else
			links_close(&links);
		for (int i = 0; i < FDS; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
		alive = alive && send_all(socket, &err, sizeof(err));
	}
	links_close(&links);
	free(links.fds);
}

/* Leaves everything of the profiler's but its socket: its terminal, its files, its powers. */
static void go_apart(int socket)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "proftrace-links");
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (socket != 3) {
		dup2(socket, 3);
		fcntl(3, F_SETFD, FD_CLOEXEC);
	}
	close_range(4, ~0u, 0);
	if (chdir("/"))
		return; /* keeps a file system busy, no more */
}

int keeper__new(struct keeper **out)
{
	struct keeper *k = calloc(1, sizeof(*k));
	int pair[2] = {-1, -1}, err = 0;

	if (!k || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		err = k ? -errno : -ENOMEM;
	if (!err)
		k->pid = fork();
	if (!err && k->pid < 0)
		err = -errno;
	if (err) {
		log_error("cannot start the process that holds the probes: %s", strerror(-err));
		if (pair[0] >= 0) {
			close(pair[0]);
			close(pair[1]);
		}
		free(k);
		return err;
	}
	if (!k->pid) {
		go_apart(pair[1]);
		privilege__drop_for_links();
		serve(3);
		_exit(0);
	}
	close(pair[1]);
	k->socket = pair[0];
	*out = k;
	return 0;
}

int keeper__fd(const struct keeper *k)
{
	return k->socket;
}

/* Waits for the answer. */
static int answer(const struct keeper *k)
{
	int err;

	return receive_all(k->socket, &err, sizeof(err)) ? err : -EOWNERDEAD;
}

int keeper__link(struct keeper *k, const struct link_spec *spec)
{
	const struct request req = {spec->attach_type, spec->return_probes, spec->pid, spec->cnt};
	const int fds[FDS] = {spec->prog_fd, spec->object_fd};
	size_t len = spec->cnt * sizeof(uint64_t);

	if (!spec->cnt || spec->cnt > MAX_COUNT)
		return spec->cnt ? -E2BIG : -EINVAL;
	if (!send_request(k->socket, &req, fds) || !send_all(k->socket, spec->offsets, len) ||
	    !send_all(k->socket, spec->cookies, len))
		return -EOWNERDEAD;
	return answer(k);
}

void keeper__detach(struct keeper *k)
{
	const struct request req = {0};

	if (send_request(k->socket, &req, NULL))
		answer(k);
}

void keeper__free(struct keeper *k)
{
	if (!k)
		return;
	close(k->socket);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(k);
}
