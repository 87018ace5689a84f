/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a process has mapped as code, opened by inode. */
#ifndef PROFTRACE_TARGET_MAPS_H
#define PROFTRACE_TARGET_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Called for each file with an executable mapping, once a file, in address order. */
struct mapped_file {
	const char *path;    /* as the process names it, without " (deleted)" */
	uint64_t start, end; /* its first executable mapping */
	unsigned int dev_major, dev_minor;
	uint64_t ino;
	bool deleted;
};

/* One mapping, of whatever. */
struct mapping {
	const char *name; /* of the file, as above, or what the kernel calls it; "": nothing */
	uint64_t start, end, offset;
	unsigned int dev_major, dev_minor;
	uint64_t ino; /* 0: no file's */
	bool executable, shared, deleted;
	bool reserved; /* nothing may be done with it yet: addresses are kept for something */
};

/* Calls `fn` for each mapping of the process until it returns nonzero; returns as the next. */
int maps__for_each_mapping(pid_t pid, int (*fn)(const struct mapping *m, void *ctx), void *ctx);

/* Calls `fn` for each file until it returns nonzero, and returns that; -errno if the list cannot be
 * read (silently: the caller knows whether the process had to exist). */
int maps__for_each(pid_t pid, int (*fn)(const struct mapped_file *file, void *ctx), void *ctx);

/* Like maps__for_each(), for a list that is open already (for fuzzing): anything may be in it. */
int maps__parse(FILE *f, int (*fn)(const struct mapped_file *file, void *ctx), void *ctx);

/* Opens the very file behind a mapping, whatever its path leads to now (it may be deleted,
 * replaced, or in another mount namespace). Returns a descriptor or -errno. */
int maps__open(pid_t pid, const struct mapped_file *file);

#endif
