// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/io.h"
#include "util/log.h"

struct entry {
	char *path;
	uint64_t number, bytes;
	time_t written;
	uint64_t age_s;
	bool last; /* of its service */
};

struct entries {
	struct entry *items;
	size_t cnt, cap;
};

/* The number in "0000000042-20261124T013600Z.data"; 0: it is no recording. */
static uint64_t number_of(const char *name)
{
	size_t digits = strspn(name, "0123456789"), len = strlen(name);

	if (!digits || name[digits] != '-' || len < 5 || strcmp(name + len - 5, ".data"))
		return 0;
	return strtoull(name, NULL, 10);
}

static int add_folder(struct entries *all, const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	size_t last = SIZE_MAX;
	int err = 0;

	while (dir && !err && (e = readdir(dir))) {
		struct entry new = {.number = number_of(e->d_name)};
		struct stat st;

		if (!new.number || fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		new.bytes = st.st_size;
		new.written = st.st_mtime;
		err = ARRAY_RESERVE(&all->items, all->cnt, &all->cap);
		if (err || asprintf(&new.path, "%s/%s", folder, e->d_name) < 0) {
			err = -ENOMEM;
			break;
		}
		if (last == SIZE_MAX || new.number > all->items[last].number)
			last = all->cnt;
		all->items[all->cnt++] = new;
	}
	if (last != SIZE_MAX)
		all->items[last].last = true;
	if (dir)
		closedir(dir);
	return err;
}

static int find_all(const char *root, struct entries *all)
{
	DIR *dir = opendir(root);
	const struct dirent *e;
	char folder[PATH_MAX];
	int err = dir ? 0 : -errno;

	while (dir && !err && (e = readdir(dir))) {
		if (*e->d_name == '.')
			continue;
		if (snprintf(folder, sizeof(folder), "%s/%s", root, e->d_name) <
		    (int)sizeof(folder))
			err = add_folder(all, folder);
	}
	if (dir)
		closedir(dir);
	return err;
}

static int by_age(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->age_s != y->age_s)
		return x->age_s > y->age_s ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* By the time that it was written by: by the other one it is older, or from tomorrow. */
static uint64_t age_of(time_t written, struct ring_time now)
{
	time_t set = now.set - written, steady = now.steady - written, age = set;

	if (set < 0 || steady < 0 ? steady > set : steady < set)
		age = steady;
	return age < 0 ? 0 : age;
}

int ring__bound(const char *root, uint64_t size, uint64_t keep_s, struct ring_time now,
		struct ring_state *state)
{
	struct entries all = {0};
	int err = find_all(root, &all);

	state->bytes = 0;
	for (size_t i = 0; i < all.cnt; i++) {
		state->bytes += all.items[i].bytes;
		all.items[i].age_s = age_of(all.items[i].written, now);
	}
	state->recordings = all.cnt;
	if (all.cnt)
		qsort(all.items, all.cnt, sizeof(*all.items), by_age);
	for (size_t i = 0; !err && i < all.cnt; i++) {
		const struct entry *e = &all.items[i];

		if ((e->age_s <= keep_s && state->bytes <= size) || e->last)
			continue;
		if (unlink(e->path) && errno != ENOENT) {
			log_warn("cannot remove %s: %s", e->path, strerror(errno));
			continue;
		}
		state->bytes -= e->bytes;
		state->recordings--;
		state->removed++;
	}
	for (size_t i = 0; i < all.cnt; i++)
		free(all.items[i].path);
	free(all.items);
	if (err)
		log_error("cannot look through %s: %s", root, strerror(-err));
	return err;
}

#define PLACE "%s/.sent-%s%s"
#define NUMBERS                                                                             \
	"number %" SCNu64 " tried %" SCNu64 " sent %" SCNu64 " refused %" SCNu64 " missed " \
	"%" SCNu64 "\n"

int ring__load_place(const char *folder, const char *receiver, struct ring_place *p)
{
	char path[PATH_MAX];
	FILE *f;
	int cnt;

	*p = (struct ring_place){0};
	if (snprintf(path, sizeof(path), PLACE, folder, receiver, "") >= (int)sizeof(path))
		return -ENAMETOOLONG;
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? 0 : -errno;
	cnt = fscanf(f, NUMBERS, &p->number, &p->tried, &p->sent, &p->refused, &p->missed);
	fclose(f);
	return cnt == 5 ? 0 : -EINVAL;
}

int ring__store_place(const char *folder, const char *receiver, const struct ring_place *p)
{
	char path[PATH_MAX], made[PATH_MAX], text[256];
	int len = snprintf(text, sizeof(text),
			   "number %" PRIu64 " tried %" PRIu64 " sent %" PRIu64 " refused %" PRIu64
			   " missed %" PRIu64 "\n",
			   p->number, p->tried, p->sent, p->refused, p->missed);
	int fd, err;

	if (snprintf(path, sizeof(path), PLACE, folder, receiver, "") >= (int)sizeof(path) ||
	    snprintf(made, sizeof(made), PLACE, folder, receiver, ".new") >= (int)sizeof(made))
		return -ENAMETOOLONG;
	fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = io__write_all(fd, text, len);
	if (!err && fsync(fd))
		err = -errno;
	close(fd);
	if (!err && rename(made, path))
		err = -errno;
	if (err)
		unlink(made);
	return err;
}

uint64_t ring__next(const char *folder, struct ring_place *p, char *path, size_t size,
		    uint64_t *waiting)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	uint64_t first = 0;

	*waiting = 0;
	while (dir && (e = readdir(dir))) {
		uint64_t number = number_of(e->d_name);

		if (number <= p->number)
			continue;
		++*waiting;
		if (!first || number < first) {
			first = number;
			snprintf(path, size, "%s/%s", folder, e->d_name);
		}
	}
	if (dir)
		closedir(dir);
	/* Recordings that were gone before the receiver was configured do not count as missed. */
	if (first && p->number && first > p->number + 1) {
		p->missed += first - p->number - 1;
		p->number = first - 1;
	}
	return first;
}

uint64_t ring__last(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	uint64_t last = 0;

	while (dir && (e = readdir(dir))) {
		uint64_t number = number_of(e->d_name);

		last = number > last ? number : last;
	}
	if (dir)
		closedir(dir);
	return last;
}
