/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that are one file under several names, and do what the name says that they were started
 * by: redis-server is a link to redis-check-rdb. Inside target/ only. */
#ifndef PROFTRACE_TARGET_STARTED_AS_H
#define PROFTRACE_TARGET_STARTED_AS_H

#include <sys/types.h>

struct target_object;

/* Sets the path of a process's program to the name that it was started by, if that leads to the
 * same file, and `file_name` to the file's own. python3 is python3.11 and keeps that: where one
 * name is the beginning of the other, the longer one says more. */
void started_as__look(pid_t pid, struct target_object *program);

#endif
