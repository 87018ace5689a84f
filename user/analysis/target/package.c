// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dpkg has a file for each package, "NAME.list" or "NAME:ARCH.list", with a path a line. These
 * paths are as the package was built: "/bin/bash", where the file is "/usr/bin/bash" since /bin
 * became a link to /usr/bin.
 */
#include "target/package.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTS	  "/var/lib/dpkg/info"
#define MERGED	  "/usr"
#define SUFFIX	  ".list"
#define LISTS_MAX 20000
#define ALIKE	  4 /* letters that the names of a file and of its package have in common, mostly */

static bool line_is(const char *line, size_t len, const char *path)
{
	size_t merged = strlen(MERGED);

	if (strlen(path) == len && !memcmp(line, path, len))
		return true;
	return !strncmp(path, MERGED "/", merged + 1) && strlen(path + merged) == len &&
	       !memcmp(line, path + merged, len);
}

static bool list_has(int folder, const char *list, const char *path)
{
	int fd = openat(folder, list, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t cap = 0;
	bool found = false;
	ssize_t len;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && (len = getline(&line, &cap, f)) > 0)
		found = line_is(line, line[len - 1] == '\n' ? len - 1 : len, path);
	free(line);
	fclose(f);
	return found;
}

/* The name of the package that a list is of, if it is one. */
static bool package_name(const char *list, char *name, size_t size)
{
	size_t len = strlen(list), suffix = strlen(SUFFIX);

	if (len <= suffix || strcmp(list + len - suffix, SUFFIX) != 0)
		return false;
	snprintf(name, size, "%.*s", (int)strcspn(list, ":"), list);
	if (!strchr(list, ':') && len - suffix < size)
		name[len - suffix] = '\0';
	return true;
}

/* "mariadb-server-core" is alike "/usr/sbin/mariadbd". */
static bool is_alike(const char *package, const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(package, slash ? slash + 1 : path, ALIKE);
}

/* Looks into the lists of the packages whose name is alike the file's, or of the others. */
static int look_through(DIR *folder, bool alike, const char *path, char *name, size_t size)
{
	const struct dirent *entry;

	rewinddir(folder);
	for (size_t i = 0; i < LISTS_MAX && (entry = readdir(folder)); i++) {
		if (package_name(entry->d_name, name, size) && is_alike(name, path) == alike &&
		    list_has(dirfd(folder), entry->d_name, path))
			return 0;
	}
	return -ENOENT;
}

int package__of_lists(const char *lists, const char *path, char *name, size_t size)
{
	DIR *folder = opendir(lists);
	int err;

	if (!folder)
		return -ENOENT;
	/* All lists of a thousand packages are 5 MB, which takes 10 ms. */
	err = look_through(folder, true, path, name, size);
	if (err)
		err = look_through(folder, false, path, name, size);
	closedir(folder);
	return err;
}

int package__of(const char *path, char *name, size_t size)
{
	return package__of_lists(LISTS, path, name, size);
}
