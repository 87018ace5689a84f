// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/own_memory.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/io.h"
#include "util/log.h"

/* Tables have 145 MB by default; some 60 MB are the kernel's types and the BPF programs. */
#define NEEDED	   (200ull << 20)
#define NEEDED_FEW (80ull << 20) /* with --max-paths 5000 */

static uint64_t number_after(const char *path, const char *key)
{
	char rest[32];

	/* "max", for one, is no number: no limit. */
	if (!io__find_line(path, key, rest, sizeof(rest)) || *rest < '0' || *rest > '9')
		return UINT64_MAX;
	return strtoull(rest, NULL, 10);
}

/* Of v1 the kernel tells the lowest of a group and those above it. */
static uint64_t limit_v1(const char *group)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/fs/cgroup/memory%s/memory.stat", group);
	return number_after(path, "hierarchical_memory_limit ");
}

/* `group` is cut to "". The group at the mount has a limit as well where that is a container's. */
static uint64_t limit_v2(const char *mount, char *group)
{
	uint64_t least = UINT64_MAX;
	char path[PATH_MAX], *last;

	do {
		uint64_t limit;

		snprintf(path, sizeof(path), "%s%s/memory.max", mount, group);
		limit = number_after(path, "");
		least = limit < least ? limit : least;
		last = strrchr(group, '/');
		if (last)
			*last = '\0';
	} while (last);
	return least;
}

/* In bytes: the lowest limit of our group and those above it (memory.max of control groups v2,
 * memory.limit_in_bytes of v1). UINT64_MAX: none is known. */
static uint64_t lowest_limit(void)
{
	static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	uint64_t least = UINT64_MAX;
	char group[PATH_MAX / 2];

	if (io__find_line("/proc/self/cgroup", ":memory:", group, sizeof(group)))
		least = limit_v1(group);
	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		uint64_t limit;

		if (!io__find_line("/proc/self/cgroup", "0::", group, sizeof(group)))
			break;
		limit = limit_v2(mounts[i], group);
		least = limit < least ? limit : least;
	}
	return least;
}

void own_memory__check(void)
{
	uint64_t limit = lowest_limit();

	if (limit < NEEDED)
		log_warn("the control group of proftrace may have %llu MB of memory, and a run "
			 "needs some %llu MB, or %llu MB with --max-paths 5000: if that is too "
			 "little, the kernel ends proftrace (memory.max)",
			 (unsigned long long)limit >> 20, NEEDED >> 20, NEEDED_FEW >> 20);
}
