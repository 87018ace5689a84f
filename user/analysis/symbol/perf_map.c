// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line is "START SIZE name", both numbers hexadecimal. Code is thrown away and its memory used
 * again, and no line tells of that but the one for the new code; so the addresses are divided at
 * all starts and ends, and each piece belongs to the last line that has it.
 */
#include "symbol/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "security/opener.h"
#include "util/array.h"
#include "util/search.h"

struct map_line {
	uint64_t start, end;
	size_t name; /* in the names */
};

struct perf_map {
	struct map_line *lines; /* as in the file */
	size_t cnt, cap;
	char *names;
	size_t names_len, names_cap;
	uint64_t *bounds; /* in order; piece i goes from bounds[i] to bounds[i + 1] */
	uint32_t *owners; /* the line of each piece; NO_LINE */
	size_t bounds_cnt;
	uint64_t consumed; /* bytes of the file */
	uint64_t size;	   /* of the file, when it was read last */
};

#define NO_LINE	    UINT32_MAX
#define SMALL_BYTES (1 << 20)

/* The process's own number for itself: the last of the line "NSpid:" in its status. 0: unknown. */
static pid_t own_number(pid_t pid)
{
	char path[64], line[512];
	pid_t number = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && !number && fgets(line, sizeof(line), f)) {
		const char *last = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && last)
			number = atoi(last);
	}
	if (f)
		fclose(f);
	return number;
}

/* Whether a file is a regular one of the process's user, or of root. */
static bool is_own(pid_t pid, int fd)
{
	struct stat process, st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       (!st.st_uid || (!stat(path, &process) && process.st_uid == st.st_uid));
}

int perf_map__open(pid_t pid)
{
	pid_t number = own_number(pid);
	char root[64], path[64];
	int fd;

	if (!number)
		return -ESRCH;
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	snprintf(path, sizeof(path), "tmp/perf-%d.map", number);
	fd = opener__open_jit_list(root, path);
	if (fd >= 0 && !is_own(pid, fd)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

struct perf_map *perf_map__new(void)
{
	return calloc(1, sizeof(struct perf_map));
}

static void clear(struct perf_map *m)
{
	free(m->lines);
	free(m->names);
	free(m->bounds);
	free(m->owners);
	*m = (struct perf_map){0};
}

void perf_map__free(struct perf_map *m)
{
	if (m)
		clear(m);
	free(m);
}

/* Forgets the older half of the lines. */
static void make_room(struct perf_map *m)
{
	size_t half = m->cnt / 2, names = m->lines[half].name;

	m->cnt -= half;
	memmove(m->lines, m->lines + half, m->cnt * sizeof(*m->lines));
	for (size_t i = 0; i < m->cnt; i++)
		m->lines[i].name -= names;
	m->names_len -= names;
	memmove(m->names, m->names + names, m->names_len);
}

/* Takes one line, which has no end of its own; what is none is passed over. */
static int take(struct perf_map *m, char *line)
{
	uint64_t start, size;
	char *at, *name;
	size_t len;

	errno = 0;
	start = strtoull(line, &at, 16);
	size = strtoull(at, &name, 16);
	if (errno || at == line || name == at || *name++ != ' ' || !size || start + size < start)
		return 0;
	len = strnlen(name, PERF_MAP_NAME);
	if (!len)
		return 0;
	if (m->cnt == PERF_MAP_LINES)
		make_room(m);
	if (ARRAY_RESERVE(&m->lines, m->cnt, &m->cap) ||
	    ARRAY_RESERVE_MORE(&m->names, m->names_len, len + 1, &m->names_cap))
		return -ENOMEM;
	m->lines[m->cnt++] = (struct map_line){start, start + size, m->names_len};
	memcpy(m->names + m->names_len, name, len);
	m->names_len += len;
	m->names[m->names_len++] = '\0';
	return 0;
}

/* Takes all whole lines of a text, in place. */
static int take_lines(struct perf_map *m, char *text, size_t size)
{
	int err = 0;

	for (char *end; !err && (end = memchr(text, '\n', size)); text = end + 1) {
		size -= end + 1 - text;
		m->consumed += end + 1 - text;
		*end = '\0';
		err = take(m, text);
	}
	return err;
}

/* The piece from which on `piece` and those behind it belong to nobody yet. */
static size_t unowned(uint32_t *next, size_t piece)
{
	size_t found = piece, on;

	while (next[found] != found)
		found = next[found];
	for (; next[piece] != found && piece != found; piece = on) {
		on = next[piece];
		next[piece] = found;
	}
	return found;
}

/* Gives each piece to the last line that has it. `next` has a piece for each bound. */
static void divide(struct perf_map *m, uint32_t *next)
{
	for (size_t i = 0; i < m->bounds_cnt; i++) {
		m->owners[i] = NO_LINE;
		next[i] = i;
	}
	for (size_t i = m->cnt; i-- > 0;) {
		const struct map_line *l = &m->lines[i];
		size_t at = LOWER_BOUND(m->bounds_cnt, k, m->bounds[k] < l->start);

		while ((at = unowned(next, at)) + 1 < m->bounds_cnt && m->bounds[at] < l->end) {
			m->owners[at] = i;
			next[at] = at + 1;
		}
	}
}

static int index_lines(struct perf_map *m)
{
	size_t cnt = m->cnt * 2;
	uint32_t *next = calloc(cnt + 1, sizeof(*next));

	free(m->bounds);
	free(m->owners);
	m->bounds = calloc(cnt + 1, sizeof(*m->bounds));
	m->owners = calloc(cnt + 1, sizeof(*m->owners));
	m->bounds_cnt = 0;
	if (!next || !m->bounds || !m->owners) {
		free(next);
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->cnt; i++) {
		m->bounds[2 * i] = m->lines[i].start;
		m->bounds[2 * i + 1] = m->lines[i].end;
	}
	qsort(m->bounds, cnt, sizeof(*m->bounds), u64_order);
	for (size_t i = 0; i < cnt; i++) {
		if (!i || m->bounds[i] != m->bounds[m->bounds_cnt - 1])
			m->bounds[m->bounds_cnt++] = m->bounds[i];
	}
	divide(m, next);
	free(next);
	return 0;
}

/* Takes what the file has from m->consumed on, `size` bytes. If that is not where it begins, then
 * from the next line on. Returns the number of bytes that were there, or -errno. */
static int64_t take_rest(struct perf_map *m, int fd, size_t size, bool amid)
{
	char *text = malloc(size), *first = text;
	ssize_t got;
	int err;

	if (!text)
		return -ENOMEM;
	got = pread(fd, text, size, m->consumed);
	if (got < 0) {
		free(text);
		return -errno;
	}
	if (amid && (first = memchr(text, '\n', got)))
		first++;
	if (!first)
		first = text + got;
	m->consumed += first - text;
	err = take_lines(m, first, got - (first - text));
	free(text);
	return err ? err : got;
}

int perf_map__read(struct perf_map *m, int fd)
{
	uint64_t before = m->consumed;
	bool amid = false;
	struct stat st;
	int64_t got;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if ((uint64_t)st.st_size < m->consumed)
		clear(m);
	m->size = st.st_size;
	if ((uint64_t)st.st_size - m->consumed > PERF_MAP_BYTES) {
		m->consumed = st.st_size - PERF_MAP_BYTES;
		amid = true;
	}
	if ((uint64_t)st.st_size == m->consumed)
		return 0;
	got = take_rest(m, fd, st.st_size - m->consumed, amid);
	err = got < 0 ? got : m->consumed != before ? index_lines(m) : 0;
	return err ? err : m->consumed != before;
}

bool perf_map__has_grown(const struct perf_map *m, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && (uint64_t)st.st_size > m->size + m->size / 10 &&
	       st.st_size <= SMALL_BYTES;
}

const char *perf_map__find(const struct perf_map *m, uint64_t address)
{
	size_t after = LOWER_BOUND(m->bounds_cnt, i, m->bounds[i] <= address);

	if (!after || m->owners[after - 1] == NO_LINE)
		return NULL;
	return m->names + m->lines[m->owners[after - 1]].name;
}
