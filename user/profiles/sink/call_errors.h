/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors of system calls (--syscalls). In a profile they are marks, below the call that has failed:
 * a path "[openat] > [ENOENT]". Here they are added up by system call.
 */
#ifndef PROFTRACE_SINK_CALL_ERRORS_H
#define PROFTRACE_SINK_CALL_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_function;

/* So many calls of a function have failed by that error. */
struct call_error {
	uint32_t function, error; /* the functions that stand for them */
	uint64_t calls;
};

/* Whether the function stands for an error: "[ENOENT]", of the kernel. */
bool function__is_error(const struct profile_function *f);

/* *out = those of a linked profile, sorted by function, then by error; the caller frees it. Returns
 * 0 or -ENOMEM. */
int call_errors__new(const struct profile *p, struct call_error **out, size_t *cnt);

#endif
