// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "record/format/format.h"
#include "report/temp_recording.h"
#include "util/io.h"
#include "util/log.h"

static bool is_standard_input(const char *path)
{
	return !strcmp(path, "-");
}

const char *input__name(const char *path)
{
	return is_standard_input(path) ? "the standard input" : path;
}

static int failed(const char *path, int err)
{
	log_error("cannot read %s: %s", input__name(path), strerror(-err));
	return err;
}

/* Copies a recording. If the first bytes are not a recording's, it ends with them, as other input
 * might never end. */
static int copy(const char *path, int from, const struct temp_recording *to)
{
	char data[1 << 14];
	bool first = true;
	ssize_t len;
	int err = 0;

	while (!err &&
	       (len = io__read_up_to(from, data, first ? RECORD_MAGIC_LEN : sizeof(data)))) {
		if (len < 0)
			return failed(path, len);
		err = io__write_all(to->fd, data, len);
		if (first && memcmp(data, RECORD_MAGIC, len))
			break;
		first = false;
	}
	if (err)
		log_error("cannot keep what comes from %s in a temporary file: %s (TMPDIR chooses "
			  "the folder)",
			  input__name(path), strerror(-err));
	return err;
}

/* Takes over `fd`. */
static int put_into_file(const char *path, int fd)
{
	struct temp_recording temp_recording = {0};
	int err = temp_recording__open(&temp_recording);

	if (!err)
		err = copy(path, fd, &temp_recording);
	close(fd);
	if (!err)
		return temp_recording.fd;
	temp_recording__close(&temp_recording);
	return err;
}

int input__spare(const struct options *o)
{
	struct stat out, in;

	if (!o->output || stat(o->output, &out) || !S_ISREG(out.st_mode))
		return 0;
	for (size_t i = 0; i < o->inputs_cnt; i++) {
		int err = is_standard_input(o->inputs[i]) ? fstat(STDIN_FILENO, &in)
							  : stat(o->inputs[i], &in);

		if (err || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
			continue;
		log_error("-o %s is the recording itself, which it would replace", o->output);
		return -EINVAL;
	}
	return 0;
}

int input__open(const char *path, bool *roots)
{
	struct stat st;
	int fd;

	/* Nothing waits for the other end of a named pipe to be opened, but for what comes then. */
	if (is_standard_input(path))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	else
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st))
		return failed(path, -errno);
	*roots = S_ISREG(st.st_mode) && !st.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH));
	if (S_ISREG(st.st_mode))
		return fd;
	if (!is_standard_input(path) && fcntl(fd, F_SETFL, 0))
		return failed(path, -errno);
	return put_into_file(path, fd);
}
