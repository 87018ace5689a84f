// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/source_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "security/opener.h"
#include "util/array.h"
#include "util/io.h"

#define MAX_SIZE (16u << 20) /* bytes: generated parsers have a few million */
#define TAB	 8

struct source_text {
	char *text; /* with a NUL at its end */
	size_t size;
	uint32_t *lines; /* where each begins */
	size_t lines_cnt, lines_cap;
};

static int open_file(const char *path, bool by_root, struct stat *st)
{
	int fd = opener__open_source(path, by_root), err = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, st))
		err = -errno;
	else if (st->st_size > MAX_SIZE)
		err = -EFBIG;
	if (err)
		close(fd);
	return err ? err : fd;
}

/* Reads at most `size` bytes; fewer, without an error, if the file is cut meanwhile. */
static int read_file(struct source_text *t, int fd, size_t size)
{
	ssize_t got;

	t->text = malloc(size + 1);
	if (!t->text)
		return -ENOMEM;
	got = io__read_up_to(fd, t->text, size);
	if (got < 0)
		return got;
	t->size = got;
	t->text[got] = '\0';
	return 0;
}

static int find_lines(struct source_text *t)
{
	for (size_t at = 0; at < t->size;) {
		const char *end = memchr(t->text + at, '\n', t->size - at);

		if (ARRAY_RESERVE(&t->lines, t->lines_cnt, &t->lines_cap))
			return -ENOMEM;
		t->lines[t->lines_cnt++] = at;
		at = end ? (size_t)(end - t->text) + 1 : t->size;
	}
	return 0;
}

int source_text__open(const char *path, bool by_root, struct source_text **out)
{
	struct source_text *t = NULL;
	struct stat st;
	int fd, err;

	if (*path != '/')
		return -EINVAL;
	fd = open_file(path, by_root, &st);
	if (fd < 0)
		return fd;
	t = calloc(1, sizeof(*t));
	err = t ? read_file(t, fd, st.st_size) : -ENOMEM;
	close(fd);
	if (!err)
		err = find_lines(t);
	if (err) {
		source_text__free(t);
		return err;
	}
	*out = t;
	return 0;
}

void source_text__free(struct source_text *t)
{
	if (!t)
		return;
	free(t->lines);
	free(t->text);
	free(t);
}

uint32_t source_text__lines(const struct source_text *t)
{
	return t->lines_cnt;
}

char *source_text__line(const struct source_text *t, uint32_t number, char *buf, size_t size)
{
	size_t len = 0, column = 0;
	const char *s;

	if (number && number <= t->lines_cnt) {
		for (s = t->text + t->lines[number - 1]; *s && *s != '\n' && len + 1 < size; s++) {
			size_t blanks = *s == '\t' ? TAB - column % TAB : 1;

			if (*s == '\r' && (s[1] == '\n' || !s[1]))
				break;
			column += *s == '\t' ? blanks : (*s & 0xc0) != 0x80;
			for (; blanks && len + 1 < size; blanks--)
				buf[len++] = *s == '\t' ? ' ' : *s;
		}
	}
	buf[len] = '\0';
	return buf;
}
