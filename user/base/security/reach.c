// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40 /* the kernel's own limit */
#define MAX_DEPTH 256

/* A place in the file system: the folders on the way to it, so that ".." is checked, too. */
struct walk {
	const struct reader *reader;
	int places[MAX_DEPTH]; /* O_PATH; places[0] is our root folder */
	int depth;	       /* of the last one */
	int links;	       /* followed */
};

/* `right`: S_IROTH or S_IXOTH. Who owns a file has the owner's rights, whatever others have. */
static bool may(const struct reader *r, const struct stat *st, mode_t right)
{
	if (r->known && st->st_uid == r->uid)
		return st->st_mode & right << 6;
	if (r->known && st->st_gid == r->gid)
		return st->st_mode & right << 3;
	return st->st_mode & right;
}

static void leave(struct walk *w)
{
	close(w->places[w->depth--]);
}

/* Goes to `name`, which is neither "." nor "..". *link is set if it is a symbolic link: then it is
 * opened, and the walk stays where it is. */
static int enter(struct walk *w, const char *name, int *link)
{
	struct stat st;
	int fd;

	*link = -1;
	if (w->depth + 1 == MAX_DEPTH)
		return -ENAMETOOLONG;
	if (fstat(w->places[w->depth], &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (!may(w->reader, &st, S_IXOTH))
		return -EACCES;
	fd = openat(w->places[w->depth], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		int err = -errno;

		close(fd);
		return err;
	}
	if (S_ISLNK(st.st_mode))
		*link = fd;
	else
		w->places[++w->depth] = fd;
	return 0;
}

/* Puts what the link behind `fd`, which it takes over, says in front of the rest of the path. */
static int put_link(struct walk *w, int fd, char *path, const char *rest)
{
	char text[PATH_MAX];
	ssize_t len = readlinkat(fd, "", text, sizeof(text));
	size_t rest_len = strlen(rest);

	close(fd);
	if (len <= 0)
		return len ? -errno : -ENOENT;
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	if ((size_t)len + 1 + rest_len >= PATH_MAX)
		return -ENAMETOOLONG;
	memmove(path + len + 1, rest, rest_len + 1);
	memcpy(path, text, len);
	path[len] = '/';
	while (*text == '/' && w->depth)
		leave(w);
	return 0;
}

static int walk_path(struct walk *w, char *path)
{
	char *at = path;
	int err = 0;

	while (!err && *(at += strspn(at, "/"))) {
		size_t len = strcspn(at, "/");
		char *rest = at + len + (at[len] == '/');
		int link = -1;

		at[len] = '\0';
		if (!strcmp(at, "..")) {
			if (w->depth)
				leave(w);
		} else if (strcmp(at, ".")) {
			err = enter(w, at, &link);
		}
		if (link >= 0) {
			err = put_link(w, link, path, rest);
			rest = path;
		}
		at = rest;
	}
	return err;
}

int reach__open(const struct reader *r, const char *path)
{
	struct walk w = {.reader = r};
	char copy[PATH_MAX];
	struct stat st;
	int err, fd = -1;

	if (*path != '/' || strlen(path) >= sizeof(copy))
		return *path == '/' ? -ENAMETOOLONG : -EINVAL;
	strcpy(copy, path);
	w.places[0] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w.places[0] < 0)
		return -errno;
	err = walk_path(&w, copy);
	if (!err && (fstat(w.places[w.depth], &st) || !S_ISREG(st.st_mode)))
		err = -EINVAL;
	if (!err && !may(r, &st, S_IROTH))
		err = -EACCES;
	if (!err)
		fd = w.places[w.depth--];
	while (w.depth >= 0)
		leave(&w);
	return err ? err : fd;
}
