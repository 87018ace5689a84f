/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the opener opens for a process that has no privileges, and that strangers may have taken
 * over by what it has parsed:
 *
 * - of /proc/PID: maps, auxv and pagemap; the program (exe) and what is mapped (map_files), as
 * other files. Of its memory only code is read;
 * - files that begin as ELF files do, and lists of JIT code (/tmp/perf-PID.map below a process's
 *   root folder);
 * - lists of containers that engines keep;
 * - other files if everyone may read them, or the user who has called sudo.
 *
 * All for reading alone. Of what lies elsewhere (/etc/shadow, keys) nothing is told.
 */
#ifndef PROFTRACE_SECURITY_OPEN_RULES_H
#define PROFTRACE_SECURITY_OPEN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Each but the last returns a descriptor or -errno. */

/* Opens a file of /proc, or one that open_rules__file() allows. -ENOEXEC: a file that a process
 * maps is no ELF file. */
int open_rules__open(const char *path);

/* A regular file. `root`: "", or a folder like "/proc/12/root", out of which no link leads. */
int open_rules__file(const char *root, const char *path);

/* "tmp/perf-12.map" below a process's root folder; no link is followed, and it is no mount. */
int open_rules__jit_list(const char *root, const char *path);

/* The place of a file (O_PATH), which tells of it and what its path is. Only of /proc/PID: exe,
 * root and what is below, map_files. */
int open_rules__place(const char *path);

/* Source text: a regular file that the user who has called sudo may read, or everyone. `by_root`:
 * root alone can have named it, so root, without sudo, is shown it, whoever may read it. */
int open_rules__source(const char *path, bool by_root);

/* Reads a process's memory where it has a file mapped as code, at [vaddr, vaddr + size). Returns
 * how much was read, 0 if the process has ended, or -errno. */
ssize_t open_rules__read_code(pid_t pid, uint64_t vaddr, void *buf, size_t size);

#endif
