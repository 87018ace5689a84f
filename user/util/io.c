// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/io.h"

#include <errno.h>
#include <unistd.h>

int io__write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t done = write(fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		at += done;
		len -= done;
	}
	return 0;
}

ssize_t io__read_up_to(int fd, void *data, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t done = read(fd, (char *)data + len, size - len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (!done)
			break;
		len += done;
	}
	return len;
}
