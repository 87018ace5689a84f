/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fence around a process that parses strangers' files. */
#ifndef PROFTRACE_SECURITY_SANDBOX_H
#define PROFTRACE_SECURITY_SANDBOX_H

/*
 * From now on this process and its children, whoever they run as,
 *
 * - open files for writing, make and remove some only in the folder of `output` (NULL: the output
 *   has no name), in $TMPDIR and /tmp, and to terminals and /dev/null; what is open stays usable;
 * - cannot trace or read other processes, mount, change namespaces, load programs or modules into
 *   the kernel, open sockets, or become somebody else;
 * - cannot change the mode of a file, nor its access control list: a new file has the mode that it
 *   is opened with. The owner is changed by fchown(2) alone, by who has CAP_CHOWN;
 * - cannot type on a terminal (TIOCSTI).
 *
 * Reading is not restricted. Before Linux 5.13, or where Landlock is switched off, the first point
 * does not hold.
 */
void sandbox__enter(const char *output);

/*
 * As that, for a run, which parses what it traces:
 *
 * - files may be read only where programs have theirs (/usr, /proc and the like), and where they
 *   may be written. Others are opened by somebody else (opener.h). With Landlock, processes that
 *   are not children of this one cannot be looked at either;
 * - bpf(2) only uses tables that are there; ptrace(2) only deals with a command that was started
 *   before.
 */
void sandbox__enter_run(const char *output);

#endif
