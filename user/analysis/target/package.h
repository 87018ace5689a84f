/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the package of the distribution that a file belongs to: for advice. */
#ifndef PROFTRACE_TARGET_PACKAGE_H
#define PROFTRACE_TARGET_PACKAGE_H

#include <stddef.h>

/* Asks dpkg's lists of files. Example: "/usr/bin/redis-server" is "redis-server". Returns 0, or
 * -ENOENT: no package has it, or this machine has no dpkg. */
int package__of(const char *path, char *name, size_t size);

/* Like package__of(), with dpkg's lists in the folder `lists`: for tests. */
int package__of_lists(const char *lists, const char *path, char *name, size_t size);

#endif
