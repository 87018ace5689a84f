// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

int io__read_number(const char *path)
{
	char text[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 ? atoi(text) : -1;
}

bool io__find_line(const char *path, const char *key, char *rest, size_t size)
{
	FILE *f = fopen(path, "re");
	char line[PATH_MAX];
	const char *at = NULL;

	while (f && !at && fgets(line, sizeof(line), f))
		at = strstr(line, key);
	if (at)
		snprintf(rest, size, "%.*s", (int)strcspn(at + strlen(key), "\n"),
			 at + strlen(key));
	if (f)
		fclose(f);
	return at;
}

int io__make(int folder, const char *name, mode_t mode)
{
	mode_t usual = umask(0);
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	int err = fd < 0 ? -errno : fd;

	umask(usual);
	return err;
}

/* The last file that io__create() has made. */
static struct {
	volatile sig_atomic_t fd; /* -1: none, or it has been closed */
	pid_t maker;		  /* children have it open, too, but it is not theirs to remove */
	char path[PATH_MAX];
} last = {.fd = -1};

static void note(int fd, const char *path)
{
	last.fd = -1;
	if (strlen(path) >= sizeof(last.path))
		return;
	strcpy(last.path, path);
	last.maker = getpid();
	last.fd = fd;
}

int io__create(const char *path, int flags, bool *made)
{
	int fd = open(path, flags | O_CREAT | O_EXCL, 0666);

	*made = fd >= 0;
	if (*made)
		note(fd, path);
	if (fd < 0 && errno == EEXIST)
		fd = open(path, flags | O_CREAT, 0666);
	return fd < 0 ? -errno : fd;
}

void io__uncreate(int fd, const char *path)
{
	struct stat made, there;

	if (fd == last.fd)
		last.fd = -1;
	if (!fstat(fd, &made) && S_ISREG(made.st_mode) && !made.st_size && !lstat(path, &there) &&
	    made.st_dev == there.st_dev && made.st_ino == there.st_ino)
		unlink(path);
}

void io__uncreate_last(void)
{
	if (last.fd >= 0 && last.maker == getpid())
		io__uncreate(last.fd, last.path);
}
