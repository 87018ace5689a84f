/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages with descriptors, between processes of ours that share a socket. */
#ifndef PROFTRACE_SECURITY_FD_MESSAGE_H
#define PROFTRACE_SECURITY_FD_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#define FD_MESSAGE_MOST 128 /* descriptors */

/* Descriptors that go along with a message. */
struct fds {
	size_t cnt;
	int fd[FD_MESSAGE_MOST];
};

/* Sends or receives all of `data`. False: the other side has gone. */
bool fd_message__send_all(int socket, const void *data, size_t len);
bool fd_message__receive_all(int socket, void *data, size_t len);

/* Sends a message of `len` bytes with descriptors, which stay ours. False: the other side has gone.
 */
bool fd_message__send(int socket, const void *data, size_t len, const struct fds *fds);

/* Receives a message of at most `size` bytes. What comes in *fds is the caller's to close. Returns
 * its length; 0: the other side has gone. */
size_t fd_message__receive(int socket, void *data, size_t size, struct fds *fds);

void fds__close(struct fds *fds);

#endif
