/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks: functions that are probed, or their calls, for what they tell about the process, whatever
 * the filter says. They are no part of the profile.
 */
#ifndef PROFTRACE_PLAN_HOOKS_H
#define PROFTRACE_PLAN_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;

enum hook_kind {
	HOOK_LINK_MAP,	    /* the dynamic linker has mapped or unmapped files */
	HOOK_MAKECONTEXT,   /* a coroutine gets its stack: libc's way */
	HOOK_MAKE_FCONTEXT, /* boost.context's way */
	HOOK_KINDS,
};

struct plan_hook {
	uint64_t offset; /* of the probed instruction in the file */
	uint64_t cookie; /* for the hook's program */
	uint32_t object;
	uint8_t kind; /* enum hook_kind */
};

#define HOOKS_MAX 16 /* in one object */

/* The hooks of one object, `object` being its index. `spare_calls`: no call may be probed. Returns
 * how many it has. */
size_t hooks__find(const struct elf_image *img, uint32_t object, bool spare_calls,
		   struct plan_hook out[HOOKS_MAX]);

/* Whether there is such a hook. */
bool hooks__have(const struct plan_hook *hooks, size_t cnt, enum hook_kind kind);

#endif
