// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/privilege.h"

#include <errno.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/log.h"

#define BIT(cap) (1ull << (cap))

/* Found by leaving out one at a time (Linux 6.18). */
#define ATTACHING (BIT(CAP_BPF) | BIT(CAP_PERFMON))
#define READING                                                                \
	(BIT(CAP_SYS_PTRACE) |	       /* /proc/PID/maps of other users */     \
	 BIT(CAP_CHECKPOINT_RESTORE) | /* what /proc/PID/map_files leads to */ \
	 BIT(CAP_DAC_READ_SEARCH))     /* files that only others may read */
#define REPLACING                                                            \
	(BIT(CAP_DAC_OVERRIDE) | /* in folders that only others may write */ \
	 BIT(CAP_FOWNER) |	 /* and where a folder is sticky */          \
	 BIT(CAP_CHOWN))	 /* a file that stays its owner's */
/* Stands in for CHECKPOINT_RESTORE, so whoever was given only that keeps it. */
#define INSTEAD BIT(CAP_SYS_ADMIN)

static const struct {
	const char *name;
	uint64_t any; /* of these */
} needed[] = {
	{"CAP_BPF", BIT(CAP_BPF)},	   /* load programs */
	{"CAP_PERFMON", BIT(CAP_PERFMON)}, /* attach them to other users' code */
	{"CAP_SYS_PTRACE", BIT(CAP_SYS_PTRACE)},
	{"CAP_CHECKPOINT_RESTORE", BIT(CAP_CHECKPOINT_RESTORE) | INSTEAD},
};

static uint64_t asked; /* to be kept */

/* The kernel's form of sets: 32 bits each. */
struct sets {
	struct __user_cap_data_struct low, high;
};

static int sets_call(long call, struct sets *sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(call, &header, sets) ? -errno : 0;
}

static uint64_t permitted(void)
{
	struct sets sets = {0};

	if (sets_call(SYS_capget, &sets))
		return 0;
	return sets.low.permitted | (uint64_t)sets.high.permitted << 32;
}

int privilege__check(void)
{
	uint64_t caps = permitted();
	char missing[128] = "";
	size_t len = 0;

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		if (!(caps & needed[i].any))
			len += snprintf(missing + len, sizeof(missing) - len, "%s%s",
					len ? ", " : "", needed[i].name);
	}
	if (!len)
		return 0;
	log_error("not permitted: needs %s; run it with sudo", missing);
	return -EPERM;
}

/* We run no programs. Without CAP_SETPCAP the bounding set stays: then no_new_privs alone keeps
 * capabilities out. */
static void let_none_in(void)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void keep_only(uint64_t keep)
{
	struct sets sets;
	int err;

	keep &= permitted();
	sets = (struct sets){{keep, keep, 0}, {keep >> 32, keep >> 32, 0}};
	let_none_in();
	err = sets_call(SYS_capset, &sets);
	if (err)
		log_warn("cannot give up privileges: %s", strerror(-err));
}

void privilege__keep_replacing(void)
{
	asked |= REPLACING;
}

static uint64_t reading(void)
{
	return READING | (permitted() & BIT(CAP_CHECKPOINT_RESTORE) ? 0 : INSTEAD);
}

/* No core dumps, and what takes privileges without these. */
static void leave_limits(void)
{
	const struct rlimit none = {0, 0}, any = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_NICE, &any); /* privilege__hurry() */
	/* Before Linux 5.11 the memory of BPF's tables counts as locked. */
	setrlimit(RLIMIT_MEMLOCK, &any);
}

void privilege__hurry(bool hurries)
{
	static const struct sched_param none;
	static int usual, policy;

	if (hurries) {
		usual = getpriority(PRIO_PROCESS, 0);
		policy = sched_getscheduler(0);
	}
	/* The kernel ignores the priority of an idle task (SCHED_IDLE): all others go first. */
	if ((policy & ~SCHED_RESET_ON_FORK) == SCHED_IDLE)
		sched_setscheduler(0, hurries ? policy & SCHED_RESET_ON_FORK : policy, &none);
	setpriority(PRIO_PROCESS, 0, hurries ? PRIVILEGE_PRIORITY : usual);
}

void privilege__drop_for_links(bool perf_is_admins)
{
	const struct rlimit real_time = {PRIVILEGE_REAL_TIME, PRIVILEGE_REAL_TIME};
	uint64_t keep = ATTACHING;

	leave_limits();
	if (setrlimit(RLIMIT_RTPRIO, &real_time))
		keep |= BIT(CAP_SYS_NICE);
	keep_only(keep | (perf_is_admins ? BIT(CAP_SYS_ADMIN) : 0));
}

void privilege__drop_for_reading(void)
{
	leave_limits();
	keep_only(reading());
}

/* Whether bpf(2) is refused to those without capabilities even where a descriptor is all that it
 * takes: before Linux 5.19, unless kernel.unprivileged_bpf_disabled is 0. */
static bool any_bpf_takes_capability(void)
{
	union bpf_attr attr = {.info.bpf_fd = -1};
	struct sets sets, none;
	bool takes;

	if (sets_call(SYS_capget, &sets))
		return true;
	none = sets;
	none.low.effective = none.high.effective = 0;
	if (sets_call(SYS_capset, &none))
		return true;
	takes = syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) && errno == EPERM;
	return sets_call(SYS_capset, &sets) || takes;
}

void privilege__drop_for_run(void)
{
	leave_limits();
	keep_only(asked | (any_bpf_takes_capability() ? BIT(CAP_BPF) : 0));
}

void privilege__drop_for_report(void)
{
	keep_only(REPLACING | BIT(CAP_DAC_READ_SEARCH));
}

void privilege__drop_all(void)
{
	keep_only(0);
}

/* An unsigned decimal environment variable; -1 if it is absent or malformed. */
static long env_id(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long id;

	if (!text || !*text)
		return -1;
	errno = 0;
	id = strtol(text, &end, 10);
	return errno || *end || id < 0 || id > 0x7fffffff ? -1 : id;
}

int privilege__become_caller(void)
{
	long uid = env_id("SUDO_UID"), gid = env_id("SUDO_GID");
	struct passwd *pw;

	if (geteuid() != 0 || uid <= 0)
		return 0;
	pw = getpwuid(uid);
	if (gid < 0)
		gid = pw ? (long)pw->pw_gid : uid;
	if (pw ? initgroups(pw->pw_name, gid) : setgroups(0, NULL))
		return -errno;
	if (setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

int privilege__become(unsigned int uid, unsigned int gid)
{
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	return 0;
}
