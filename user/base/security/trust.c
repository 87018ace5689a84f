// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/trust.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Whether `options`, separated by commas, have "nosuid". */
static bool is_nosuid(const char *options)
{
	static const char nosuid[] = "nosuid";
	const size_t len = sizeof(nosuid) - 1;

	for (const char *at = options; (at = strstr(at, nosuid)); at += len) {
		if ((at == options || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	}
	return false;
}

/* Lines of mountinfo: "36 35 98:0 /root /mnt rw,nosuid ...", see proc(5). */
static bool is_trusted_mount(uint64_t id, bool in_memory)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	bool trusted = false;
	char *line = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		char options[256];
		uint64_t line_id;

		if (sscanf(line, "%" SCNu64 " %*u %*s %*s %*s %255s", &line_id, options) == 2 &&
		    line_id == id) {
			trusted = in_memory || !is_nosuid(options);
			break;
		}
	}
	free(line);
	if (f)
		fclose(f);
	return trusted;
}

/* Files in memory were put there while this kernel ran, whatever the mount's options. */
static bool is_in_memory(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC;
}

bool trust__is_roots(int fd)
{
	struct statx st;

	return !statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &st) &&
	       st.stx_mask & STATX_MNT_ID && S_ISREG(st.stx_mode) && !st.stx_uid &&
	       !(st.stx_mode & (S_IWGRP | S_IWOTH)) &&
	       is_trusted_mount(st.stx_mnt_id, is_in_memory(fd));
}
