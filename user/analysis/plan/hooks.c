// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/hooks.h"

#include <errno.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "elf/elf_image.h"
#include "elf/lookup.h"

#define MAX_CODE (16u << 20) /* bytes that are searched for calls */

/* `data`: a variable whose distance from the probed instruction is the cookie; NULL: none. */
static const struct hook_row {
	const char *function, *data;
	enum hook_kind kind;
} rows[] = {
	{"_dl_debug_state", "_r_debug", HOOK_LINK_MAP},
	{"makecontext", NULL, HOOK_MAKECONTEXT},
	{"make_fcontext", NULL, HOOK_MAKE_FCONTEXT},
	{"bthread_make_fcontext", NULL, HOOK_MAKE_FCONTEXT}, /* brpc */
};

#define ROWS	  (sizeof(rows) / sizeof(*rows))
#define MAX_CALLS (HOOKS_MAX - ROWS + 1) /* of the one function whose calls are looked for */

/* The calls of a function within its own file. */
struct calls {
	uint64_t function;
	uint64_t from[MAX_CALLS];
	size_t cnt;
	bool unclear; /* there are more, or other ways to get there */
};

static int note_call(void *ctx, const struct code_ref *ref)
{
	struct calls *c = ctx;

	if (ref->to != c->function || ref->kind == REF_ADDRESS)
		return 0;
	if (ref->kind != REF_CALL || c->cnt == MAX_CALLS)
		c->unclear = true;
	else
		c->from[c->cnt++] = ref->from;
	return c->unclear;
}

static int search_segment(const struct elf_image *img, const struct elf_segment *seg,
			  struct calls *c)
{
	uint8_t *bytes;
	int64_t got;

	if (seg->filesz > MAX_CODE)
		return -E2BIG;
	bytes = malloc(seg->filesz + 1);
	if (!bytes)
		return -ENOMEM;
	got = elf_image__read(img, seg->offset, bytes, seg->filesz);
	if (got > 0)
		elf_image__arch(img)->visit_refs(NULL, bytes, got, seg->vaddr, note_call, c);
	free(bytes);
	return got < 0 ? got : 0;
}

/*
 * The dynamic linker calls its notification function from half a dozen places. These are probed in
 * its stead, as it is where debuggers put a breakpoint of their own: they would not see it hit
 * where a probe is. None is found if some way to it may be missed.
 */
static void find_calls(const struct elf_image *img, uint64_t function, struct calls *c)
{
	const struct elf_segment *segments;
	size_t segments_cnt;

	*c = (struct calls){.function = function};
	segments = elf_image__segments(img, &segments_cnt);
	for (size_t i = 0; i < segments_cnt && !c->unclear; i++)
		c->unclear = segments[i].exec && search_segment(img, &segments[i], c);
	if (c->unclear)
		c->cnt = 0;
}

/* Adds a hook like `like` for each of these places, whose cookie tells how far the variable at
 * `like.cookie` (0: none) is from it. Returns how many hooks there are then. */
static size_t add_hooks(const struct elf_image *img, const struct calls *places,
			struct plan_hook like, struct plan_hook *out, size_t cnt)
{
	const uint64_t variable = like.cookie;

	for (size_t i = 0; i < places->cnt && cnt < HOOKS_MAX; i++) {
		if (!elf_image__exec_offset(img, places->from[i], 1, &like.offset))
			continue;
		like.cookie = variable ? variable - places->from[i] : 0;
		out[cnt++] = like;
	}
	return cnt;
}

size_t hooks__find(const struct elf_image *img, uint32_t object, bool spare_calls,
		   struct plan_hook out[HOOKS_MAX])
{
	const char *names[ROWS * 2];
	uint64_t vaddrs[ROWS * 2];
	size_t cnt = 0;

	for (size_t i = 0; i < ROWS; i++) {
		names[2 * i] = rows[i].function;
		names[2 * i + 1] = rows[i].data ? rows[i].data : "";
	}
	symbol_lookup(img, names, ROWS * 2, vaddrs);
	for (size_t i = 0; i < ROWS; i++) {
		const uint64_t function = vaddrs[2 * i];
		const struct plan_hook like = {
			.object = object, .kind = rows[i].kind, .cookie = vaddrs[2 * i + 1]};
		struct calls places = {0};

		if (!function)
			continue;
		if (rows[i].kind == HOOK_LINK_MAP && !spare_calls)
			find_calls(img, function, &places);
		if (!places.cnt)
			places.from[places.cnt++] = function;
		cnt = add_hooks(img, &places, like, out, cnt);
	}
	return cnt;
}

bool hooks__have(const struct plan_hook *hooks, size_t cnt, enum hook_kind kind)
{
	for (size_t i = 0; i < cnt; i++) {
		if (hooks[i].kind == kind)
			return true;
	}
	return false;
}
