// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/keep_old.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/calls/block_writer.h"
#include "util/io.h"
#include "util/log.h"

static bool is_ours_alone(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size && st->st_nlink == 1 && st->st_uid == geteuid();
}

/* A new file of that name, locked as the other was. Returns it or -errno. */
static int create(const char *path, mode_t mode)
{
	int fd = io__make(AT_FDCWD, path, mode & 0777);

	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

void keep_old(struct block_writer *w)
{
	char old[PATH_MAX];
	struct stat st, named;
	int fd;

	if (fstat(w->fd, &st) || !is_ours_alone(&st) || lstat(w->path, &named) ||
	    named.st_dev != st.st_dev || named.st_ino != st.st_ino)
		return;
	if (snprintf(old, sizeof(old), "%s.old", w->path) >= (int)sizeof(old))
		return;
	if (rename(w->path, old)) {
		log_warn("%s is overwritten: it cannot be renamed to %s: %s", w->path, old,
			 strerror(errno));
		return;
	}
	fd = create(w->path, st.st_mode);
	if (fd < 0) {
		log_warn("%s is overwritten: there can be no new one beside %s: %s", w->path, old,
			 strerror(-fd));
		rename(old, w->path);
		return;
	}
	close(w->fd);
	w->fd = fd;
}
