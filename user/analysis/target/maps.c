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

#include "security/opener.h"
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

/* Parses one line of /proc/PID/maps, in place. Returns whether it is one. */
static bool line_parse(char *line, struct mapping *m)
{
	static const char deleted[] = " (deleted)";
	char perms[5];
	int name_at = 0;
	size_t len;

	*m = (struct mapping){0};
	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->start,
		   &m->end, perms, &m->offset, &m->dev_major, &m->dev_minor, &m->ino,
		   &name_at) != 7 ||
	    !name_at || strlen(perms) != 4)
		return false;
	m->executable = perms[2] == 'x';
	m->reserved = !strncmp(perms, "---", 3);
	m->shared = perms[3] == 's';
	len = strlen(line);
	if (len > sizeof(deleted) && !strcmp(line + len - (sizeof(deleted) - 1), deleted)) {
		m->deleted = true;
		line[len - (sizeof(deleted) - 1)] = '\0';
	}
	m->name = line + name_at;
	unescape(line + name_at);
	return true;
}

static int parse(FILE *f, int (*fn)(const struct mapping *m, void *ctx), void *ctx)
{
	struct mapping m;
	size_t line_cap = 0;
	char *line = NULL;
	int err = 0;

	while (!err && getline(&line, &line_cap, f) > 0) {
		if (line_parse(line, &m))
			err = fn(&m, ctx);
	}
	free(line);
	return err;
}

struct file_search {
	struct seen seen;
	int (*fn)(const struct mapped_file *file, void *ctx);
	void *ctx;
};

/* Passes on what is the first executable mapping of a file. */
static int look_for_file(const struct mapping *m, void *arg)
{
	struct file_search *s = arg;
	const struct mapped_file file = {.path = m->name,
					 .start = m->start,
					 .end = m->end,
					 .dev_major = m->dev_major,
					 .dev_minor = m->dev_minor,
					 .ino = m->ino,
					 .deleted = m->deleted};
	int seen;

	if (!m->executable || !m->ino || m->name[0] != '/')
		return 0;
	seen = seen_before(&s->seen, &file);
	return seen ? seen < 0 ? seen : 0 : s->fn(&file, s->ctx);
}

int maps__parse(FILE *f, int (*fn)(const struct mapped_file *file, void *ctx), void *ctx)
{
	struct file_search s = {.fn = fn, .ctx = ctx};
	int err = parse(f, look_for_file, &s);

	free(s.seen.items);
	return err;
}

static FILE *maps_open(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	return opener__fopen(path);
}

int maps__for_each(pid_t pid, int (*fn)(const struct mapped_file *file, void *ctx), void *ctx)
{
	FILE *f = maps_open(pid);
	int err;

	if (!f)
		return -errno;
	err = maps__parse(f, fn, ctx);
	fclose(f);
	return err;
}

int maps__for_each_mapping(pid_t pid, int (*fn)(const struct mapping *m, void *ctx), void *ctx)
{
	FILE *f = maps_open(pid);
	int err;

	if (!f)
		return -errno;
	err = parse(f, fn, ctx);
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
	fd = opener__open(path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}
