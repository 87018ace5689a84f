// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/debug_fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf/debug_fetcher.h"
#include "elf/debug_request.h"
#include "util/log.h"

#define MAX_KNOWN     256
#define GRACE_SECONDS 5 /* for the process to see that it takes too long */
#define QUIET_SECONDS 2 /* until it is said what is waited for */

/* An id that was asked for. */
struct known {
	uint8_t id[DEBUG_FETCH_MAX_ID];
	size_t len;
	int fd; /* -1: there is none */
};

static struct {
	int socket;
	pid_t pid;    /* 0: there is no process */
	bool waiting; /* for its answer */
	struct known known[MAX_KNOWN];
	size_t known_cnt;
} fetcher;

void debug_fetch__start(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	int ends[2];

	if (fetcher.pid || !urls || !*urls)
		return;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		log_warn("debuginfod: cannot start: %s", strerror(errno));
		return;
	}
	fetcher.pid = fork();
	if (!fetcher.pid)
		debug_fetcher__run(ends[1]);
	if (fetcher.pid < 0) {
		log_warn("debuginfod: cannot start: %s", strerror(errno));
		close(ends[0]);
		fetcher.pid = 0;
	} else {
		fetcher.socket = ends[0];
	}
	close(ends[1]);
}

void debug_fetch__stop(void)
{
	if (!fetcher.pid)
		return;
	close(fetcher.socket);
	/* Otherwise it ends by itself, and its cache is whole. Another user's may not be killed: it
	 * ends with what it does, or with us. */
	if (fetcher.waiting && kill(fetcher.pid, SIGKILL)) {
		fetcher.pid = 0;
		return;
	}
	while (waitpid(fetcher.pid, NULL, 0) < 0 && errno == EINTR)
		;
	fetcher.pid = 0;
}

/* Waits for the answer. Returns a descriptor or -errno; *reply says more. */
static int receive(struct fetch_reply *reply, const char *label)
{
	struct pollfd pollfd = {.fd = fetcher.socket, .events = POLLIN};
	struct iovec iov = {reply, sizeof(*reply)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *header;
	int ready, fd = -1;

	/* A signal ends the waiting: it may be the user, who has had enough. */
	ready = poll(&pollfd, 1, QUIET_SECONDS * 1000);
	if (!ready) {
		log_info("debuginfod: waiting for the debug information of '%s' (with "
			 "DEBUGINFOD_URLS= nothing is asked for)",
			 label);
		ready = poll(&pollfd, 1, (debug_fetcher__seconds() + GRACE_SECONDS) * 1000);
	}
	if (ready <= 0)
		return ready < 0 ? -errno : -ETIMEDOUT;
	if (recvmsg(fetcher.socket, &message, MSG_CMSG_CLOEXEC) != sizeof(*reply))
		return -EPIPE;
	fetcher.waiting = false;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	reply->text[sizeof(reply->text) - 1] = '\0';
	if (reply->err || fd < 0) {
		if (fd >= 0)
			close(fd);
		return reply->err > 0 ? -reply->err : -EPROTO;
	}
	return fd;
}

/* Says why there is no file; gives up for good where the next one would fare alike. */
static void report(int err, const struct fetch_reply *reply, const char *label)
{
	const char *reason = strerror(-err);
	bool hopeless = true;

	if (err == -ENOENT || err == -EFBIG) {
		reason = err == -ENOENT ? "no server has it" : "it is too large";
		hopeless = false;
	} else if (err == -ELIBACC) {
		reason = reply->text;
	} else if (err == -ETIME || err == -ETIMEDOUT) {
		reason = "it takes too long";
	} else if (err == -EPIPE) {
		reason = "the process that fetches has ended";
	}
	log_warn("debuginfod: no debug information for '%s': %s%s", label, reason,
		 hopeless ? "; nothing more is asked for" : "");
	if (hopeless)
		debug_fetch__stop();
}

static int ask(const uint8_t *id, size_t len, const char *label)
{
	struct fetch_request request = {.len = len};
	struct fetch_reply reply = {0};
	int fd;

	memcpy(request.id, id, len);
	fetcher.waiting = true;
	log_debug("debuginfod: asking for the debug information of '%s'", label);
	if (send(fetcher.socket, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		fd = -EPIPE;
	else
		fd = receive(&reply, label);
	if (fd < 0)
		report(fd, &reply, label);
	return fd;
}

static struct known *find(const uint8_t *id, size_t len)
{
	for (size_t i = 0; i < fetcher.known_cnt; i++) {
		if (fetcher.known[i].len == len && !memcmp(fetcher.known[i].id, id, len))
			return &fetcher.known[i];
	}
	return NULL;
}

int debug_fetch__get(const uint8_t *id, size_t len, const char *label)
{
	struct known *known = find(id, len);
	int fd;

	if (!known) {
		if (!fetcher.pid || !len || len > DEBUG_FETCH_MAX_ID ||
		    fetcher.known_cnt == MAX_KNOWN)
			return -ENOENT;
		known = &fetcher.known[fetcher.known_cnt++];
		memcpy(known->id, id, len);
		known->len = len;
		known->fd = ask(id, len, label);
	}
	if (known->fd < 0)
		return -ENOENT;
	fd = fcntl(known->fd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -ENOENT : fd;
}

void debug_fetch__reject(const uint8_t *id, size_t len)
{
	struct known *known = find(id, len);

	if (!known || known->fd < 0)
		return;
	close(known->fd);
	known->fd = -1;
}
