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
#include "util/text.h"

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

/* Reads a number of that base up to the character `end`, and goes on behind that. Of -a and of
 * libraries there are thousands of lines, for which sscanf() takes three times as long. */
static bool take_number(char **at, int base, char end, uint64_t *out)
{
	char *behind;

	*out = strtoull(*at, &behind, base);
	if (behind == *at || *behind != end)
		return false;
	*at = behind + 1;
	return true;
}

/* Parses one line of /proc/PID/maps, in place. Returns whether it is one. */
static bool line_parse(char *line, struct mapping *m)
{
	uint64_t dev_major, dev_minor;
	const char *perms;
	char *at = line;

	*m = (struct mapping){0};
	line[strcspn(line, "\n")] = '\0';
	if (!take_number(&at, 16, '-', &m->start) || !take_number(&at, 16, ' ', &m->end))
		return false;
	perms = at;
	if (strcspn(perms, " ") != 4 || !perms[4])
		return false;
	at += 5;
	if (!take_number(&at, 16, ' ', &m->offset) || !take_number(&at, 16, ':', &dev_major) ||
	    !take_number(&at, 16, ' ', &dev_minor) || !take_number(&at, 10, ' ', &m->ino))
		return false;
	m->dev_major = dev_major;
	m->dev_minor = dev_minor;
	m->executable = perms[2] == 'x';
	m->reserved = !strncmp(perms, "---", 3);
	m->shared = perms[3] == 's';
	m->deleted = text_cut_deleted(line);
	at += strspn(at, " ");
	m->name = at;
	unescape(at);
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

#define READ_SIZE 4096 /* as much as the kernel gives at once; stdio would ask for 1,024 bytes */

/* `buffer` is the file's until it is closed. */
static FILE *maps_open(pid_t pid, char buffer[READ_SIZE])
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = opener__fopen(path);
	if (f)
		setvbuf(f, buffer, _IOFBF, READ_SIZE);
	return f;
}

int maps__for_each(pid_t pid, int (*fn)(const struct mapped_file *file, void *ctx), void *ctx)
{
	char buffer[READ_SIZE];
	FILE *f = maps_open(pid, buffer);
	int err;

	if (!f)
		return -errno;
	err = maps__parse(f, fn, ctx);
	fclose(f);
	return err;
}

int maps__for_each_mapping(pid_t pid, int (*fn)(const struct mapping *m, void *ctx), void *ctx)
{
	char buffer[READ_SIZE];
	FILE *f = maps_open(pid, buffer);
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
