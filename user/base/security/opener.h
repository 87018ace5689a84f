/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening strangers' files by a process of ours, apart, that may do so and parses nothing
 * ("proftrace-files" in ps; of lists of libraries it follows the links): whoever parses them has no
 * privileges, and gets descriptors. What may be opened at all is open_rules.h's to say. All try to
 * open a file themselves first, and ask if they may not; without that process they fail then. Paths
 * are as for open(2).
 */
#ifndef PROFTRACE_SECURITY_OPENER_H
#define PROFTRACE_SECURITY_OPENER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Starts it, while there are the privileges that it takes along. Returns 0 or -errno with one line
 * logged. */
int opener__start(void);
/* Ends it. Without one it has no effect. */
void opener__stop(void);

/* Opens a file of /proc, or a regular one, for reading. Returns a descriptor or -errno. */
int opener__open(const char *path);
FILE *opener__fopen(const char *path); /* NULL with errno set */

/* Opens a regular file below `root`, "" or as "/proc/12/root", out of which no link leads. What is
 * none, as a FIFO, is left alone. Returns a descriptor or -errno. */
int opener__open_below(const char *root, const char *path);

/* A list of JIT code below such a root, at "tmp/perf-12.map"; no link is followed. */
int opener__open_jit_list(const char *root, const char *path);

/* stat(2). Returns 0 or -errno. */
int opener__stat(const char *path, struct stat *st);

/* Reads a link of /proc, as "/usr/bin/redis-server (deleted)". Returns 0 or -errno. */
int opener__read_link(const char *path, char *buf, size_t size);

/* open_rules__read_code(): at most OPENER_CODE bytes at a time. */
#define OPENER_CODE 8192
ssize_t opener__read_code(pid_t pid, uint64_t vaddr, void *buf, size_t size);

/* link_map__tls_offset(), which says what it returns. */
struct link_map_query;
int64_t opener__tls_offset(pid_t pid, const struct link_map_query *library);

/* Opens source text: open_rules__source() is about `by_root`. Returns a descriptor or -errno. */
int opener__open_source(const char *path, bool by_root);

#endif
