// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/whom.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "security/opener.h"
#include "target/cgroups.h"
#include "target/process.h"
#include "util/array.h"
#include "util/glob.h"
#include "util/log.h"
#include "util/text.h"

#define COMM_MAX 15 /* bytes that the kernel keeps of a name */
#define OWN_NAME "proftrace"
#define USER_MAX 4294967294u /* to the kernel 4294967295, (uid_t)-1, is nobody's number */

struct whom {
	struct whom_spec spec;
	struct cgroups cgroups; /* of unit, path or container */
	uint64_t *cgroup_ids;
	uid_t uid;
	struct stat own; /* our program */
	struct whom_begins begins;
};

bool whom__is_open(const struct whom_spec *spec)
{
	return spec->names_cnt || spec->unit || spec->cgroup || spec->container || spec->user;
}

int whom__user(const char *user, uid_t *uid)
{
	struct passwd *pw = getpwnam(user);
	unsigned long long number;

	if (pw) {
		*uid = pw->pw_uid;
		return 0;
	}
	if (!*user || user[strspn(user, "0123456789")])
		return -ESRCH;
	errno = 0;
	number = strtoull(user, NULL, 10);
	if (errno || number > USER_MAX)
		return -ERANGE;
	*uid = number;
	return 0;
}

static int find_user(struct whom *w)
{
	int err = w->spec.user ? whom__user(w->spec.user, &w->uid) : 0;

	if (err == -ERANGE)
		log_error("--user %s: users have numbers from 0 to %u", w->spec.user, USER_MAX);
	else if (err)
		log_error("--user %s: there is no such user", w->spec.user);
	return err;
}

/* One of the three ways to name a group; the value that was given, or NULL. */
static const char *group_of(const struct whom_spec *spec, enum cgroup_by *by, const char **option)
{
	*by = spec->unit ? CGROUP_UNIT : spec->cgroup ? CGROUP_PATH : CGROUP_CONTAINER;
	*option = spec->unit ? "--unit" : spec->cgroup ? "--cgroup" : "--container";
	return spec->unit ? spec->unit : spec->cgroup ? spec->cgroup : spec->container;
}

/* Makes the conditions that the kernel checks when a process begins a program: comm, the file's
 * name, the control group and the user. */
static int make_begins(struct whom *w)
{
	struct whom_begins *b = &w->begins;

	free(b->names);
	free(w->cgroup_ids);
	*b = (struct whom_begins){.by_user = w->spec.user, .uid = w->uid, .certain = true};
	b->names = calloc(w->spec.names_cnt + 1, sizeof(*b->names));
	w->cgroup_ids = calloc(w->cgroups.cnt + 1, sizeof(*w->cgroup_ids));
	if (!b->names || !w->cgroup_ids)
		return -ENOMEM;
	for (size_t i = 0; i < w->spec.names_cnt; i++) {
		const char *text = w->spec.names[i];
		size_t len = strcspn(text, "*?[\\");
		bool whole = !text[len] && len < COMM_MAX;

		b->names[i].text = text;
		b->names[i].len = len < COMM_MAX ? len : COMM_MAX;
		b->names[i].whole = whole;
		b->certain &= whole;
	}
	b->names_cnt = w->spec.names_cnt;
	/* With numbers beside it a group or user is asked of those alone. */
	b->certain &= b->names_cnt || !w->spec.pids_cnt;
	b->cgroups = w->cgroup_ids;
	for (size_t i = 0; i < w->cgroups.cnt; i++) {
		if (w->cgroups.items[i].id)
			w->cgroup_ids[b->cgroups_cnt++] = w->cgroups.items[i].id;
	}
	if (b->cgroups_cnt != w->cgroups.cnt) {
		b->cgroups_cnt = 0;
		b->certain = false;
	}
	return 0;
}

static int find_groups(const struct whom *w, struct cgroups *out)
{
	const char *option, *name;
	enum cgroup_by by;

	name = group_of(&w->spec, &by, &option);
	return name ? cgroups__find("", by, name, out) : 0;
}

int whom__new(const struct whom_spec *spec, struct whom **out)
{
	static const char *const what[] = {"control group", "unit", "container"};
	struct whom *w = calloc(1, sizeof(*w));
	const char *option, *name;
	enum cgroup_by by;
	int err;

	if (!w)
		return -ENOMEM;
	w->spec = *spec;
	if (stat("/proc/self/exe", &w->own))
		w->own = (struct stat){0};
	err = find_user(w);
	if (!err)
		err = find_groups(w, &w->cgroups);
	name = group_of(spec, &by, &option);
	if (!err && name && !w->cgroups.cnt) {
		log_error("%s %s: no %s of that name has processes here", option, name, what[by]);
		err = -ESRCH;
	}
	if (!err)
		err = make_begins(w);
	if (err) {
		whom__free(w);
		return err;
	}
	*out = w;
	return 0;
}

void whom__free(struct whom *w)
{
	if (!w)
		return;
	cgroups__clear(&w->cgroups);
	free(w->begins.names);
	free(w->cgroup_ids);
	free(w);
}

static bool same_groups(const struct cgroups *a, const struct cgroups *b)
{
	if (a->cnt != b->cnt)
		return false;
	for (size_t i = 0; i < a->cnt; i++) {
		if (a->items[i].id != b->items[i].id || strcmp(a->items[i].path, b->items[i].path))
			return false;
	}
	return true;
}

bool whom__refresh(struct whom *w)
{
	struct cgroups now = {0};

	/* While none is there the old ones stand: a unit that is started again may have its own
	 * back. */
	if (find_groups(w, &now) || !now.cnt || same_groups(&w->cgroups, &now)) {
		cgroups__clear(&now);
		return false;
	}
	cgroups__clear(&w->cgroups);
	w->cgroups = now;
	return !make_begins(w);
}

/* Up to `size` - 1 bytes of a file of a process; false: it has ended. */
static bool read_text(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	len = fread(text, 1, size - 1, f);
	text[len] = '\0';
	fclose(f);
	return len > 0;
}

/* The name in a command line: "nginx: worker process", "-bash", "/bin/sh". */
static const char *first_word(char *text)
{
	text[strcspn(text, " :")] = '\0';
	text = (char *)path_base(text);
	return *text == '-' ? text + 1 : text;
}

static bool has_name(const struct whom *w, pid_t pid, const struct process_status *st)
{
	char file[4096] = "", said[4096], link[64];
	const char *base, *first = "";

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	if (opener__read_link(link, file, sizeof(file)))
		*file = '\0';
	text_cut_deleted(file);
	base = path_base(file);
	if (read_text(pid, "cmdline", said, sizeof(said)))
		first = first_word(said);
	for (size_t i = 0; i < w->spec.names_cnt; i++) {
		const char *name = w->spec.names[i];

		if (glob__matches_object(name, st->comm) || glob__matches_object(name, base) ||
		    (*first && glob__matches_object(name, first)))
			return true;
	}
	return false;
}

bool whom__lists(const struct whom *w, pid_t pid)
{
	for (size_t i = 0; i < w->spec.pids_cnt; i++) {
		if (w->spec.pids[i] == pid)
			return true;
	}
	return false;
}

static bool is_ours(const struct whom *w, pid_t pid, const struct process_status *st)
{
	char path[64];
	struct stat exe;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return !strcmp(st->comm, OWN_NAME) || !strcmp(st->comm, OWN_NAME "-links") ||
	       !strcmp(st->comm, OWN_NAME "-files") ||
	       (!opener__stat(path, &exe) && exe.st_dev == w->own.st_dev &&
		exe.st_ino == w->own.st_ino);
}

bool whom__has(const struct whom *w, pid_t pid)
{
	const struct whom_spec *s = &w->spec;
	char groups[8192];
	struct process_status st;

	if (process__status(pid, &st) || !st.has_mm || st.state == 'Z' || st.state == 'X')
		return false;
	if (s->user && st.uid != w->uid)
		return false;
	if (w->cgroups.cnt && (!read_text(pid, "cgroup", groups, sizeof(groups)) ||
			       !cgroups__have(&w->cgroups, groups)))
		return false;
	if ((s->pids_cnt || s->names_cnt) && !whom__lists(w, pid) &&
	    !(s->names_cnt && has_name(w, pid, &st)))
		return false;
	return !is_ours(w, pid, &st);
}

int whom__find(const struct whom *w, pid_t **pids, size_t *cnt, bool *more)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	size_t cap = 0;

	*pids = NULL;
	*cnt = 0;
	*more = false;
	while (dir && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 0 || !whom__has(w, pid))
			continue;
		*more = *cnt == WHOM_MOST;
		if (*more)
			break;
		if (ARRAY_RESERVE(pids, *cnt, &cap)) {
			closedir(dir);
			free(*pids);
			*pids = NULL;
			return -ENOMEM;
		}
		(*pids)[(*cnt)++] = pid;
	}
	if (dir)
		closedir(dir);
	return 0;
}

/* "-p nginx --user www-data": appends an option that was given. Returns how many were. */
static int put(char *buf, size_t size, const char *option, const char *value)
{
	size_t len = strlen(buf);

	if (value)
		snprintf(buf + len, size - len, "%s%s %s", len ? " " : "", option, value);
	return value != NULL;
}

void whom__nobody(const struct whom *w)
{
	const struct whom_spec *s = &w->spec;
	char said[512] = "", list[256] = "";
	int options = 0;

	for (size_t i = 0; i < s->pids_cnt + s->names_cnt; i++) {
		size_t len = strlen(list);

		if (i < s->pids_cnt)
			snprintf(list + len, sizeof(list) - len, "%s%d", i ? "," : "", s->pids[i]);
		else
			snprintf(list + len, sizeof(list) - len, "%s%s", i ? "," : "",
				 s->names[i - s->pids_cnt]);
	}
	options += put(said, sizeof(said), "-p", *list ? list : NULL);
	options += put(said, sizeof(said), "--unit", s->unit);
	options += put(said, sizeof(said), "--cgroup", s->cgroup);
	options += put(said, sizeof(said), "--container", s->container);
	options += put(said, sizeof(said), "--user", s->user);
	if (process__is_hidden(1))
		log_error("%s: whoever is that" PROCESS_HIDDEN, said);
	else
		log_error("%s: no process %s; `ps -eo pid,user,comm,cgroup` lists what runs", said,
			  options > 1 ? "is all that" : "is that");
}

bool whom__changes(const struct whom *w)
{
	return w->cgroups.cnt || w->spec.user;
}

const struct whom_begins *whom__begins(const struct whom *w)
{
	return &w->begins;
}
