/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks: functions that are probed, or their calls, for what they tell about the process, whatever
 * the filter says. They are no part of the profile.
 */
#ifndef PROFTRACE_PLAN_MARKS_H
#define PROFTRACE_PLAN_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;

enum mark_kind {
	MARK_LINK_MAP,	    /* the dynamic linker has mapped or unmapped files */
	MARK_MAKECONTEXT,   /* a coroutine gets its stack: libc's way */
	MARK_MAKE_FCONTEXT, /* boost.context's way */
	MARK_KINDS,
};

struct plan_mark {
	uint64_t offset; /* of the probed instruction in the file */
	uint64_t cookie; /* for the mark's program */
	uint32_t object;
	uint8_t kind; /* enum mark_kind */
};

#define MARKS_MAX 16 /* in one object */

/* The marks of one object, `object` being its index. `spare_calls`: no call may be probed. Returns
 * how many it has. */
size_t marks__find(const struct elf_image *img, uint32_t object, bool spare_calls,
		   struct plan_mark out[MARKS_MAX]);

/* Whether there is such a mark. */
bool marks__have(const struct plan_mark *marks, size_t cnt, enum mark_kind kind);

#endif
