// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/open_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_FILES (1 << 20) /* the kernel's usual limit (fs.nr_open) */

void open_files__allow_most(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

void open_files__close_from(int first)
{
	const struct dirent *entry;
	DIR *folder;

	if (!close_range(first, ~0u, 0))
		return;
	folder = opendir("/proc/self/fd");
	while (folder && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		if (fd >= first && fd != dirfd(folder))
			close(fd);
	}
	if (folder)
		closedir(folder);
	for (int fd = first; !folder && fd < MOST_FILES; fd++)
		close(fd);
}
