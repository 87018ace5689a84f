// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target/containers.h"
#include "util/array.h"
#include "util/text.h"

#define MOUNTS_MAX     16
#define DEPTH_MAX      16
#define CONTAINERS_MIN 8 /* characters of an id that need not be all of it */
#define CGROUPS	       "/sys/fs/cgroup"

struct mount {
	char root[256];	 /* the folder of the hierarchy that is mounted */
	char point[256]; /* where */
	char hierarchy[264];
};

struct search {
	const struct mount *mount;
	const char *prefix; /* of paths, in tests */
	enum cgroup_by by;
	const char *name; /* the folder's; of a unit with its suffix */
	const char *id;	  /* of a container: part of a folder's name; NULL: unknown */
	struct cgroups *out;
};

/* A line of mountinfo: "30 23 0:26 ROOT POINT OPTIONS - TYPE SOURCE ..." */
static bool parse_mount(const char *line, struct mount *m)
{
	const char *rest = strstr(line, " - ");
	char type[32];

	if (!rest || sscanf(line, "%*d %*d %*s %255s %255s", m->root, m->point) != 2 ||
	    sscanf(rest, " - %31s", type) != 1)
		return false;
	m->hierarchy[0] = '\0';
	if (!strcmp(type, "cgroup2"))
		return true;
	if (strcmp(type, "cgroup"))
		return false;
	/* v1 is mounted by its name: /sys/fs/cgroup/cpu,cpuacct */
	snprintf(m->hierarchy, sizeof(m->hierarchy), "%s%s",
		 strcmp(path_base(m->point), "systemd") ? "" : "name=", path_base(m->point));
	return true;
}

/* v2 first. */
static size_t find_mounts(const char *prefix, struct mount mounts[MOUNTS_MAX])
{
	char line[4096], path[4096];
	size_t cnt = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", prefix);
	f = fopen(path, "re");
	while (f && cnt < MOUNTS_MAX && fgets(line, sizeof(line), f)) {
		struct mount m;

		if (!parse_mount(line, &m))
			continue;
		mounts[cnt++] = m;
		if (!*m.hierarchy) {
			mounts[cnt - 1] = mounts[0];
			mounts[0] = m;
		}
	}
	if (f)
		fclose(f);
	return cnt;
}

/* `path` is relative to the mount point: "/system.slice", or "". */
static int add(const struct search *s, const char *path)
{
	const char *root = strcmp(s->mount->root, "/") ? s->mount->root : "";
	struct cgroups *out = s->out;
	char folder[4096];
	struct stat st;
	struct cgroup c = {0};

	snprintf(folder, sizeof(folder), "%s%s%s", s->prefix, s->mount->point, path);
	if (stat(folder, &st) || !S_ISDIR(st.st_mode))
		return 0;
	if (ARRAY_RESERVE(&out->items, out->cnt, &out->cap))
		return -ENOMEM;
	if (!*s->mount->hierarchy)
		c.id = st.st_ino;
	c.hierarchy = strdup(s->mount->hierarchy);
	if (asprintf(&c.path, "%s%s", root, path) < 0)
		c.path = NULL;
	if (!c.hierarchy || !c.path) {
		free(c.hierarchy);
		free(c.path);
		return -ENOMEM;
	}
	out->items[out->cnt++] = c;
	return 0;
}

/* Engines name folders ID, docker-ID.scope, libpod-ID.scope, cri-containerd-ID.scope,
 * lxc.payload.NAME; conmon is Podman's own process beside the container. */
static bool is_meant(const struct search *s, const char *folder)
{
	if (!strcmp(folder, s->name))
		return true;
	if (s->by != CGROUP_CONTAINER || strstr(folder, "conmon"))
		return false;
	return (s->id && strstr(folder, s->id)) ||
	       (!strncmp(folder, "lxc.payload.", 12) && !strcmp(folder + 12, s->name));
}

/* Looks for the folders' names; below one that is meant nothing else is. */
static int look_below(const struct search *s, const char *path, int depth)
{
	const struct dirent *entry;
	char folder[4096];
	int err = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s%s%s", s->prefix, s->mount->point, path);
	dir = opendir(folder);
	while (!err && dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR ||
		    snprintf(folder, sizeof(folder), "%s/%s", path, entry->d_name) >=
			    (int)sizeof(folder))
			continue;
		if (is_meant(s, entry->d_name))
			err = add(s, folder);
		else if (depth < DEPTH_MAX)
			err = look_below(s, folder, depth + 1);
	}
	if (dir)
		closedir(dir);
	return err;
}

/* A path is one of the file system, or below /sys/fs/cgroup, or of the hierarchy itself. */
static int add_path(const struct search *s)
{
	const size_t len = strlen(s->mount->point), above = strlen(CGROUPS);
	char path[4096];

	/* Longer ones are none's. */
	snprintf(path, sizeof(path), "%s%s%s", strncmp(s->name, CGROUPS, above) ? CGROUPS : "",
		 *s->name == '/' ? "" : "/", s->name);
	for (size_t end = strlen(path); end && path[end - 1] == '/'; end--)
		path[end - 1] = '\0';
	if (!strncmp(path, s->mount->point, len) && (!path[len] || path[len] == '/'))
		return add(s, path + len);
	return *s->name == '/' && strncmp(s->name, CGROUPS, above) ? add(s, path + above) : 0;
}

/* systemd's units that have processes; without a suffix it is a service. */
static bool is_unit(const char *name)
{
	static const char *const kinds[] = {".service", ".slice", ".scope",
					    ".socket",	".mount", ".swap"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *dot = strrchr(name, '.');

		if (dot && !strcmp(dot, kinds[i]))
			return true;
	}
	return false;
}

int cgroups__find(const char *root, enum cgroup_by by, const char *name, struct cgroups *out)
{
	struct mount mounts[MOUNTS_MAX];
	size_t cnt = find_mounts(root, mounts);
	char unit[300], id[128];
	struct search s = {.prefix = root, .by = by, .name = name, .out = out};
	int err = 0;

	if (by == CGROUP_UNIT) {
		snprintf(unit, sizeof(unit), "%s%s", name, is_unit(name) ? "" : ".service");
		s.name = unit;
	} else if (by == CGROUP_CONTAINER) {
		if (containers__id(root, name, id, sizeof(id)))
			s.id = id;
		else if (strlen(name) >= CONTAINERS_MIN && !name[strspn(name, "0123456789abcdef")])
			s.id = name;
	}
	for (size_t i = 0; i < cnt && !err && !out->cnt; i++) {
		s.mount = &mounts[i];
		err = by == CGROUP_PATH ? add_path(&s) : look_below(&s, "", 0);
	}
	return err;
}

static bool lies_in(const char *path, const char *group)
{
	size_t len = strlen(group);

	if (!strcmp(group, "/"))
		return true;
	return !strncmp(path, group, len) && (!path[len] || path[len] == '/' || path[len] == '\n');
}

bool cgroups__have(const struct cgroups *c, const char *memberships)
{
	/* Lines: "4:memory:/system.slice", "0::/system.slice" */
	for (const char *line = memberships; line && *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *hierarchy = strchr(line, ':');
		const char *path = hierarchy ? strchr(hierarchy + 1, ':') : NULL;

		for (size_t i = 0; path && i < c->cnt; i++) {
			size_t len = strlen(c->items[i].hierarchy);

			if ((size_t)(path - hierarchy - 1) == len &&
			    !strncmp(hierarchy + 1, c->items[i].hierarchy, len) &&
			    lies_in(path + 1, c->items[i].path))
				return true;
		}
	}
	return false;
}

void cgroups__clear(struct cgroups *c)
{
	for (size_t i = 0; i < c->cnt; i++) {
		free(c->items[i].hierarchy);
		free(c->items[i].path);
	}
	free(c->items);
	*c = (struct cgroups){0};
}
