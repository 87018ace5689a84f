// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"

struct seen_file {
	unsigned int dev_major, dev_minor;
	uint64_t ino;
};

struct seen {
	struct seen_file *items;
	size_t len, cap;
};

/* Returns 1 if the file was seen before, 0 (and notes it) if not, -ENOMEM. */
static int seen_before(struct seen *seen, const struct mapped_file *f)
{
	for (size_t i = 0; i < seen->len; i++) {
		const struct seen_file *s = &seen->items[i];

		if (s->ino == f->ino && s->dev_major == f->dev_major &&
		    s->dev_minor == f->dev_minor)
			return 1;
	}
	if (ARRAY_RESERVE(&seen->items, seen->len, &seen->cap))
		return -ENOMEM;
	seen->items[seen->len++] = (struct seen_file){f->dev_major, f->dev_minor, f->ino};
	return 0;
}

/* Undoes the kernel's escapes in place: newlines only, not even the backslash itself. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		if (!strncmp(from, "\\012", 4)) {
			*to = '\n';
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* Parses one line of /proc/PID/maps. Returns whether it is an executable mapping of a file. */
static bool line_parse(char *line, struct mapped_file *f)
{
	static const char deleted[] = " (deleted)";
	char perms[5];
	int path_at = 0;
	size_t len;

	*f = (struct mapped_file){0};
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %" SCNu64 " %n", &f->start, &f->end,
		   perms, &f->dev_major, &f->dev_minor, &f->ino, &path_at) != 6 ||
	    !path_at)
		return false;
	if (perms[2] != 'x' || !f->ino || line[path_at] != '/')
		return false;
	line[strcspn(line, "\n")] = '\0';
	len = strlen(line);
	if (len > sizeof(deleted) && !strcmp(line + len - (sizeof(deleted) - 1), deleted)) {
		f->deleted = true;
		line[len - (sizeof(deleted) - 1)] = '\0';
	}
	f->path = line + path_at;
	unescape(line + path_at);
	return true;
}

int maps__parse(FILE *f, int (*fn)(const struct mapped_file *file, void *ctx), void *ctx)
{
	struct mapped_file file;
	struct seen seen = {0};
	size_t line_cap = 0;
	char *line = NULL;
	int err = 0;

	while (!err && getline(&line, &line_cap, f) > 0) {
		if (!line_parse(line, &file))
			continue;
		err = seen_before(&seen, &file);
		if (err > 0)
			err = 0;
		else if (!err)
			err = fn(&file, ctx);
	}
	free(line);
	free(seen.items);
	return err;
}

int maps__for_each(pid_t pid, int (*fn)(const struct mapped_file *file, void *ctx), void *ctx)
{
	char path[64];
	FILE *f;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	err = maps__parse(f, fn, ctx);
	fclose(f);
	return err;
}

int maps__open(pid_t pid, const struct mapped_file *file)
{
	struct stat st;
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, file->start,
		 file->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}
