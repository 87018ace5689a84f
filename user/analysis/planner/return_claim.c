// SPDX-License-Identifier: GPL-2.0-or-later
#include "planner/return_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Nobody else locks bytes of a program out there; "proftrac". */
#define CLAIMED_BYTE 0x70726f6674726163

static int lock(int fd, int command, short type, struct flock *out)
{
	*out = (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = CLAIMED_BYTE, .l_len = 1};
	return fcntl(fd, command, out);
}

bool return_claim__is_free(int fd)
{
	struct flock found;

	/* Whoever wanted to write would have to wait for readers, others than this descriptor. */
	return lock(fd, F_OFD_GETLK, F_WRLCK, &found) || found.l_type == F_UNLCK;
}

bool return_claim__take(int fd)
{
	struct flock made;

	if (lock(fd, F_OFD_SETLK, F_RDLCK, &made))
		return errno != EAGAIN && errno != EACCES;
	if (return_claim__is_free(fd))
		return true;
	return_claim__give_back(fd);
	return false;
}

void return_claim__give_back(int fd)
{
	struct flock gone;

	lock(fd, F_OFD_SETLK, F_UNLCK, &gone);
}
