// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

int channel__send_fd(int channel, int fd)
{
	union control control = {
		.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS},
	};
	struct iovec iov = {"", 1};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int channel__receive_fd(int channel)
{
	union control control = {0};
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(channel, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	int fd;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -EPIPE;
	if (!n || control.header.cmsg_type != SCM_RIGHTS)
		return -EPIPE;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}
