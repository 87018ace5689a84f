/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fence around a process that reads strangers' files and has nothing else to do. */
#ifndef PROFTRACE_SECURITY_SANDBOX_H
#define PROFTRACE_SECURITY_SANDBOX_H

/*
 * From now on this process and its children, whoever they run as,
 *
 * - open files for writing, make and remove some only in the folder of `output` (NULL: the output
 *   has no name), in $TMPDIR and /tmp, and in /dev; what is open stays usable;
 * - cannot trace or read other processes, mount, change namespaces, load programs or modules into
 *   the kernel, open sockets, or become somebody else.
 *
 * Reading is not restricted. Before Linux 5.13, or where Landlock is switched off, the first point
 * does not hold.
 */
void sandbox__enter(const char *output);

#endif
