/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in thread-local variables, by name: "request_id", "libapp.so:request_id",
 * "otel_thread_ctx_v1->trace_id". */
#ifndef PROFTRACE_SELECT_THREAD_VALUES_H
#define PROFTRACE_SELECT_THREAD_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "symbol/thread_variable.h"

#define THREAD_VALUES_WHY  160 /* bytes of a reason */
#define THREAD_VALUES_KEPT 4   /* that are looked up once, not for each function */

struct argument;
struct elf_image;

/* A variable that has been looked up. Names are borrowed, of lists as they were given. */
struct thread_value_place {
	const char *library, *name; /* NULL: none yet; a library's only */
	struct thread_variable variable;
	bool found;
	char why[THREAD_VALUES_WHY]; /* not found; "": nobody has such a variable */
};

/* The means by which functions and regions of one object find thread-local variables, as
 * `libapp.so:request_id` of -A. */
struct thread_values {
	const struct elf_image *img;
	/* Finds a variable in what the same processes have mapped: in files whose name or SONAME
	 * is `library`, or, with NULL, in any. Returns whether it is there, in one place for
	 * all of them; else `why` tells why not. */
	bool (*find)(const struct thread_values *at, const char *library, const char *name,
		     struct thread_variable *out, char *why, size_t size);
	void *ctx; /* for that */
	struct thread_value_place kept[THREAD_VALUES_KEPT];
	size_t kept_cnt;
};

/* Gives a value that has a name the place of the thread-local variable of that name: the program's
 * own, or a library's. Returns NULL, or why it cannot be read, valid until the next call; "": there
 * is no such variable. */
const char *thread_values__place(struct thread_values *at, struct argument *arg);

#endif
