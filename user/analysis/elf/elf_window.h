/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stretch of a file in memory, for a reader that looks at many small pieces mostly in their
 * order: one read of the file for some thousand functions instead of one for each.
 */
#ifndef PROFTRACE_ELF_ELF_WINDOW_H
#define PROFTRACE_ELF_ELF_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct elf_image;

/* A window on the bytes of one image, for one thread; all 0 at first. */
struct elf_window {
	uint8_t *bytes;
	size_t cap;
	uint64_t offset, len; /* of the file */
};

/* Sets *out to the `size` bytes at a file offset, which stay until the next call. Returns 0,
 * -ENOMEM, or -ENOEXEC if the file does not have them or cannot be read. */
int elf_window__at(struct elf_window *w, const struct elf_image *img, uint64_t offset, size_t size,
		   const uint8_t **out);
void elf_window__clear(struct elf_window *w);

#endif
