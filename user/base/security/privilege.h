/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Privileges, and giving up those that are not needed any more. Capabilities belong to threads:
 * call these while there is only one. A capability that is given up never comes back: it leaves the
 * bounding set too, and no program that we might run could bring it again.
 */
#ifndef PROFTRACE_SECURITY_PRIVILEGE_H
#define PROFTRACE_SECURITY_PRIVILEGE_H

#include <stdbool.h>

/* Has the later drops of privileges keep what replacing a file in another user's folder takes: for
 * whoever will do that while the run goes on. */
void privilege__keep_replacing(void);

/* Whether we may load programs and look into other users' processes. Returns 0, or -EPERM with one
 * line logged that names the missing capabilities. */
int privilege__check(void);

/* The priority of processes that put probes in and take them out. Meanwhile the target pays for
 * probes that are to go, and its page faults and forks wait, so a busy machine shall not delay it.
 */
#define PRIVILEGE_PRIORITY (-20)
/* The highest real-time priority of the process that holds the links. */
#define PRIVILEGE_REAL_TIME 2

/* Has that priority, or the usual one again; where that is not allowed it has no effect. Those
 * below allow it. */
void privilege__hurry(bool hurries);

/* Keeps what it takes to attach, no more: for the process that holds the links. `perf_is_admins`:
 * that takes CAP_SYS_ADMIN. */
void privilege__drop_for_links(bool perf_is_admins);

/* Keeps what it takes to open strangers' files, and those of their processes in /proc: for the
 * process that does so and parses none. */
void privilege__drop_for_reading(void);

/*
 * Keeps none but what was asked for (privilege__keep_replacing()), and CAP_BPF where the kernel
 * wants it for tables that are there already. Before anything of a stranger's is read, but once the
 * command has been forked, which is to have all that its user has. Leaves no core dumps, either.
 */
void privilege__drop_for_run(void);

/* Keeps what reading a recording, and writing what it shows, may take in other users' folders. */
void privilege__drop_for_report(void);

/* Keeps none: for a process that deals with strangers. */
void privilege__drop_all(void);

/* Becomes the user who called sudo, for good. Only root can and need do that; without sudo nothing
 * changes. Returns 0 or -errno. */
int privilege__become_caller(void);

/* Becomes that user, in no other group. Returns 0 or -errno. */
int privilege__become(unsigned int uid, unsigned int gid);

#endif
