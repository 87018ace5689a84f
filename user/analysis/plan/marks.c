// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/marks.h"

#include "elf/elf_image.h"
#include "elf/lookup.h"

/* `data`: a variable whose distance from the function is the cookie; NULL: none. */
static const struct mark_row {
	const char *function, *data;
	enum mark_kind kind;
} rows[] = {
	{"_dl_debug_state", "_r_debug", MARK_LINK_MAP},
	{"makecontext", NULL, MARK_MAKECONTEXT},
	{"make_fcontext", NULL, MARK_MAKE_FCONTEXT},
	{"bthread_make_fcontext", NULL, MARK_MAKE_FCONTEXT}, /* brpc */
};

#define ROWS (sizeof(rows) / sizeof(*rows))

_Static_assert(ROWS <= MARKS_MAX, "marks");

size_t marks__find(const struct elf_image *img, uint32_t object, struct plan_mark out[MARKS_MAX])
{
	const char *names[ROWS * 2];
	uint64_t vaddrs[ROWS * 2], offset;
	size_t cnt = 0;

	for (size_t i = 0; i < ROWS; i++) {
		names[2 * i] = rows[i].function;
		names[2 * i + 1] = rows[i].data ? rows[i].data : "";
	}
	symbol_lookup(img, names, ROWS * 2, vaddrs);
	for (size_t i = 0; i < ROWS; i++) {
		uint64_t function = vaddrs[2 * i], data = vaddrs[2 * i + 1];

		if (!function || !elf_image__exec_offset(img, function, 1, &offset))
			continue;
		out[cnt++] = (struct plan_mark){.offset = offset,
						.cookie = data ? data - function : 0,
						.object = object,
						.kind = rows[i].kind};
	}
	return cnt;
}

bool marks__have(const struct plan_mark *marks, size_t cnt, enum mark_kind kind)
{
	for (size_t i = 0; i < cnt; i++) {
		if (marks[i].kind == kind)
			return true;
	}
	return false;
}
