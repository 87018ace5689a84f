// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/temp_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"

static const char *chosen_directory(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && *directory ? directory : "/tmp";
}

int temp_recording__open(struct temp_recording *s)
{
	const char *directory = chosen_directory();

	s->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd < 0) {
		int err = -errno;

		log_error("cannot make a temporary file in %s: %s (TMPDIR chooses the folder)",
			  directory, strerror(-err));
		s->fd = 0;
		return err;
	}
	snprintf(s->path, sizeof(s->path), "/proc/self/fd/%d", s->fd);
	return 0;
}

void temp_recording__explain(const struct temp_recording *s, int err)
{
	if (s->fd > 0 && (err == -ENOSPC || err == -EDQUOT || err == -EFBIG))
		log_error("single calls are kept in a temporary file in %s until the end (TMPDIR "
			  "chooses the folder)",
			  chosen_directory());
}

void temp_recording__close(struct temp_recording *s)
{
	if (s->fd > 0)
		close(s->fd);
	s->fd = 0;
}
