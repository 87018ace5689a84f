/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors of system calls (--syscalls), and the files and peers that these were about. In a profile
 * both are marks below the call: paths "[openat] > [ENOENT]" and "[read] > /etc/hosts". Here they
 * are added up by system call.
 */
#ifndef PROFTRACE_SINK_CALL_MARKS_H
#define PROFTRACE_SINK_CALL_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_function;

/* How many calls of a function have passed the mark. */
struct call_mark {
	uint32_t function, mark; /* the functions that stand for them */
	uint64_t calls;
};

/* Whether the function stands for a file or peer: "tcp 10.0.0.1:5432". */
bool function__is_file(const struct profile_function *f);

/* *out = those of a linked profile, sorted by function, then by mark; the caller frees it. Returns
 * 0 or -ENOMEM. */
int call_marks__new(const struct profile *p, struct call_mark **out, size_t *cnt);

#endif
