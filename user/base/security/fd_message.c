// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/fd_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

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

bool fd_message__send_all(int socket, const void *data, size_t len)
{
	return move_all(socket, (void *)data, len, true);
}

bool fd_message__receive_all(int socket, void *data, size_t len)
{
	return move_all(socket, data, len, false);
}

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(FD_MESSAGE_MOST * sizeof(int))];
};

bool fd_message__send(int socket, const void *data, size_t len, const struct fds *fds)
{
	union control control = {0};
	struct iovec iov = {(void *)data, len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	size_t size = fds->cnt * sizeof(int);
	ssize_t n;

	if (size) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(size);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(&control.header), fds->fd, size);
	}
	do
		n = sendmsg(socket, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len;
}

size_t fd_message__receive(int socket, void *data, size_t size, struct fds *fds)
{
	union control control = {0};
	struct iovec iov = {data, size};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	ssize_t n;

	do
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	fds->cnt = 0;
	if (n > 0 && msg.msg_controllen >= sizeof(control.header) &&
	    control.header.cmsg_type == SCM_RIGHTS) {
		fds->cnt = (control.header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds->fd, CMSG_DATA(&control.header), fds->cnt * sizeof(int));
	}
	return n > 0 ? n : 0;
}

void fds__close(struct fds *fds)
{
	for (size_t i = 0; i < fds->cnt; i++)
		close(fds->fd[i]);
	fds->cnt = 0;
}
