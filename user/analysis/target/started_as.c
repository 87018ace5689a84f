// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/started_as.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "security/opener.h"
#include "target/target_data.h"
#include "util/text.h"

/* The kernel's name of a process: the first 15 bytes of what it was started by, unless it has
 * renamed itself. */
static bool read_comm(pid_t pid, char *comm, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(comm, (int)size, f))
		*comm = '\0';
	fclose(f);
	comm[strcspn(comm, "\n")] = '\0';
	return *comm && !strchr(comm, '/');
}

static bool one_begins_the_other(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	return !strncmp(a, b, a_len < b_len ? a_len : b_len);
}

void started_as__look(pid_t pid, struct target_object *program)
{
	const char *own = path_base(program->path);
	char comm[32], seen[4096], *path = NULL, *file_name;
	int folder = (int)(own - program->path);
	struct stat st;

	if (!read_comm(pid, comm, sizeof(comm)) || one_begins_the_other(comm, own) ||
	    snprintf(seen, sizeof(seen), "%s%.*s%s", program->root, folder, program->path, comm) >=
		    (int)sizeof(seen) ||
	    opener__stat(seen, &st) || st.st_dev != program->st_dev || st.st_ino != program->st_ino)
		return;
	file_name = strdup(own);
	if (!file_name || asprintf(&path, "%.*s%s", folder, program->path, comm) < 0) {
		free(file_name);
		return;
	}
	free(program->path);
	program->path = path;
	program->file_name = file_name;
}
