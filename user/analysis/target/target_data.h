/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom to profile: processes, and the object files in which functions can be probed. Every object
 * is held open by a descriptor on its inode; paths are for people.
 */
#ifndef PROFTRACE_TARGET_TARGET_DATA_H
#define PROFTRACE_TARGET_TARGET_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct launch;
struct whom;

struct target_process {
	pid_t pid;
	int pidfd; /* readable once the process has ended */
};

#define STRANGERS_UNKNOWN UINT32_MAX

struct target_object {
	char *path; /* as its process names it */
	/* The file's own name, if its process was started by another: that of a link. NULL: it is
	 * the last part of `path`. */
	char *file_name;
	char *root; /* where that process's root directory is, "" if it is ours */
	int fd;
	bool is_main;	     /* the program itself, or -x PATH */
	bool watched;	     /* nothing of it has run before we watched */
	bool barred;	     /* not to be probed (-x with -p; a debugger is at each process that has
				it): known for what it can do to stacks */
	uint32_t *processes; /* indexes of the processes that map it */
	uint32_t processes_cnt;
	/* Other processes that map it, by strangers__look(); and whether a debugger is at one, or
	 * it may have a shadow stack. */
	uint32_t strangers;
	bool strangers_fragile;
	/* identity while collecting */
	unsigned int dev_major, dev_minor;
	uint64_t ino;
	dev_t st_dev; /* as stat() has it: a file system may have two numbers */
	ino_t st_ino;
};

struct target {
	struct target_process *processes; /* empty: every process that maps objects[0] */
	size_t processes_cnt;
	struct target_object *objects;
	size_t objects_cnt;
	dev_t only_dev; /* -x with -p: the one file to be probed; 0: any */
	ino_t only_ino;
	size_t objects_cap;
	size_t strangers_known; /* of so many objects */
	struct launch *launch;	/* the command, held before its first instruction; NULL: none */
	struct whom *whom;	/* who belongs, also later; NULL: the processes that are there */
	pid_t *pids;		/* the processes' ids */
	pid_t *left_out;	/* of target__left_out() */
	size_t left_out_cnt;
	const char *hazard;  /* why return probes are deadly on this kernel; NULL: they are not */
	bool lists_returns;  /* the kernel may crash where two return probes are on one call */
	bool skips_programs; /* the kernel may skip BPF programs at tracepoints */
	/* Some process has a shadow stack, or will perhaps: calls must not be probed. */
	bool shadow_stacks;
	bool shadow_stacks_possible; /* other programs may have them on this machine */
};

#endif
