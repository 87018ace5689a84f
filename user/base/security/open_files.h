/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_SECURITY_OPEN_FILES_H
#define PROFTRACE_SECURITY_OPEN_FILES_H

/* Lets the process have as many open files as its hard limit says: a shell's soft limit is 1,024,
 * and each process and file of a target takes one. Where that cannot be it stays as it is. */
void open_files__allow_most(void);

/* Closes all descriptors from `first` on, also where close_range(2) is missing or refused, as by
 * system call filters of old container engines: a copy of its own socket's other end would keep a
 * process of ours from noticing that the others have gone. */
void open_files__close_from(int first);

#endif
