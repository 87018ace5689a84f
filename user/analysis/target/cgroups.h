/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control groups by path, by systemd's unit and by container. Inside target/ only. */
#ifndef PROFTRACE_TARGET_CGROUPS_H
#define PROFTRACE_TARGET_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How a group is named. */
enum cgroup_by { CGROUP_PATH, CGROUP_UNIT, CGROUP_CONTAINER };

/* One folder of a hierarchy, which stands for those below it as well. */
struct cgroup {
	char *hierarchy; /* as in /proc/PID/cgroup: "" of v2, "memory", "name=systemd" */
	char *path;	 /* the same: "/system.slice/nginx.service" */
	uint64_t id;	 /* as the kernel's programs have it; 0: of v1, they have none */
};

struct cgroups {
	struct cgroup *items;
	size_t cnt, cap;
};

/*
 * Finds the folders that are meant, of the first hierarchy that has any, v2 before v1. `root` is ""
 * but in tests: what stands before /proc/self/mountinfo, the mount points and the files in which
 * container engines keep names. Nothing found is no error. Returns 0 or -ENOMEM.
 */
int cgroups__find(const char *root, enum cgroup_by by, const char *name, struct cgroups *out);

/* Whether a process is in one of the groups, by the text of its /proc/PID/cgroup. */
bool cgroups__have(const struct cgroups *c, const char *memberships);

void cgroups__clear(struct cgroups *c);

#endif
