/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who belongs to the target: the one place that judges a process, at the start by a walk over
 * /proc, and later as processes begin programs, or change their group or user.
 */
#ifndef PROFTRACE_TARGET_WHOM_H
#define PROFTRACE_TARGET_WHOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WHOM_MOST 4096 /* processes that are taken at once */

/* The options that choose processes; NULL or 0: not given. All that are given must hold. */
struct whom_spec {
	const pid_t *pids; /* one of these, or */
	size_t pids_cnt;
	char *const *names; /* of one of these names, globs */
	size_t names_cnt;
	const char *unit;      /* systemd's: nginx.service, or nginx */
	const char *cgroup;    /* a path below /sys/fs/cgroup, or an absolute one */
	const char *container; /* an id, or the first part of one, or a name */
	const char *user;      /* a name or a number */
};

/* The part of the conditions that the kernel can check when a process begins a program. */
struct whom_begins {
	/* A name begins with one of these texts, `whole`: is it; none: any is. */
	struct {
		const char *text;
		size_t len;
		bool whole;
	} * names;
	size_t names_cnt;
	const uint64_t *cgroups; /* it is in one of these, or below; none: in any */
	size_t cgroups_cnt;
	bool by_user;
	uid_t uid;
	bool certain; /* who passes belongs; else is to be asked of whom__has() */
};

struct whom;

/* Whether other processes than those that have a number are meant. */
bool whom__is_open(const struct whom_spec *spec);

/* Finds user and groups. Borrows texts of the spec. Returns 0; -ESRCH where there is no such user
 * or group, -ERANGE where no user can have the number, or another -errno, with one line logged. */
int whom__new(const struct whom_spec *spec, struct whom **out);
void whom__free(struct whom *w); /* accepts NULL */

/* The number of a user: of a name, "www-data", or of digits, "33". Returns 0, -ESRCH (there is no
 * such user) or -ERANGE (no user can have that number). */
int whom__user(const char *user, uid_t *uid);

/* Looks again for the groups: a unit that is started again has another one. Returns whether they
 * are others now. */
bool whom__refresh(struct whom *w);

/*
 * Whether a process belongs. A process has the names that the kernel has for it (comm), that of its
 * file and that of its first argument. No kernel thread or zombie does, nor a proftrace, whoever
 * has begun it.
 */
bool whom__has(const struct whom *w, pid_t pid);

/* Whether the spec has the number of this process. */
bool whom__lists(const struct whom *w, pid_t pid);

/* All processes that belong now, WHOM_MOST at most: then *more is set. Returns 0 or -ENOMEM. */
int whom__find(const struct whom *w, pid_t **pids, size_t *cnt, bool *more);

/* Says in one line that nobody belongs. */
void whom__nobody(const struct whom *w);

/* Whether processes may belong later that have begun no program since. */
bool whom__changes(const struct whom *w);

/* Points into `w`, until it is refreshed or freed. */
const struct whom_begins *whom__begins(const struct whom *w);

#endif
