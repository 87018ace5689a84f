/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that a process has mapped, and the unwind tables of that code: the programs in the
 * kernel unwind its stacks by both. Tables are made once for each object of the target.
 */
#ifndef PROFTRACE_UNWIND_SPACES_H
#define PROFTRACE_UNWIND_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target;
struct unwind_object;
struct wire_unwind_page;
struct wire_unwind_space;

/* Takes tables and address spaces. Both functions return 0 or -errno. */
struct unwind_sink {
	/* A table, with its number; pages are borrowed. */
	int (*table)(uint32_t number, const struct wire_unwind_page *pages, uint32_t cnt,
		     void *ctx);
	int (*space)(pid_t pid, const struct wire_unwind_space *space, void *ctx);
	void *ctx;
};

struct unwind_spaces {
	struct unwind_object *objects; /* by number in the target */
	size_t objects_cnt;
	struct unwind_object *vdso; /* NULL: not looked at, so far */
	uint32_t tables_cnt;	    /* numbers given: [1, tables_cnt] */
	uint32_t tables_max;	    /* what is beyond goes by frame pointers */
	bool short_of_ranges;	    /* a process has more code mapped than there is room for */
};

/*
 * Reads what a process has mapped and passes that on, with the tables that are new. Objects must be
 * the target's already (target__refresh()); code of others is in no file. Returns 0, -ENOMEM,
 * -ESRCH and its like if the process has ended, or what the sink returned.
 */
int unwind_spaces__add(struct unwind_spaces *s, const struct target *t, pid_t pid,
		       const struct unwind_sink *sink);
void unwind_spaces__free(struct unwind_spaces *s);

#endif
