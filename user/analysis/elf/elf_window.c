// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_window.h"

#include <errno.h>
#include <stdlib.h>

#include "elf/elf_bytes.h"
#include "elf/elf_inside.h"

#define MIN_SIZE (256u << 10)
#define BEFORE	 64 /* bytes in front of what is asked for, which often comes next */

static bool holds(const struct elf_window *w, uint64_t offset, size_t size)
{
	return offset >= w->offset && offset - w->offset <= w->len &&
	       size <= w->len - (offset - w->offset);
}

static int move(struct elf_window *w, const struct elf_image *img, uint64_t offset, size_t size)
{
	uint64_t before = offset < BEFORE ? offset : BEFORE;
	size_t want = size + before < MIN_SIZE ? MIN_SIZE : size + before;
	int64_t got;

	w->len = 0;
	if (want > w->cap) {
		uint8_t *grown = realloc(w->bytes, want);

		if (!grown)
			return -ENOMEM;
		w->bytes = grown;
		w->cap = want;
	}
	w->offset = offset - before;
	got = elf_image__read(img, w->offset, w->bytes, want);
	w->len = got > 0 ? got : 0;
	return 0;
}

int elf_window__at(struct elf_window *w, const struct elf_image *img, uint64_t offset, size_t size,
		   const uint8_t **out)
{
	int err = 0;

	if (!elf_image__has_bytes(img, offset, size))
		return -ENOEXEC;
	if (!holds(w, offset, size))
		err = move(w, img, offset, size);
	if (err)
		return err;
	if (!holds(w, offset, size))
		return -ENOEXEC; /* shorter than when it was opened */
	*out = w->bytes + (offset - w->offset);
	return 0;
}

void elf_window__clear(struct elf_window *w)
{
	free(w->bytes);
	*w = (struct elf_window){0};
}
