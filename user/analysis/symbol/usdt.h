/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Static probes that were compiled into a file (USDT, sys/sdt.h, proftrace.h): a nop each, and a
 * note of the section .note.stapsdt that says where it is. Provider and name are a stranger's: they
 * end, are not empty, and may be any bytes else.
 */
#ifndef PROFTRACE_SYMBOL_USDT_H
#define PROFTRACE_SYMBOL_USDT_H

#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct usdt;

struct usdt_probe {
	const char *provider, *name;
	const char *arguments;	/* as "-4@%edi 8@-16(%rbp)"; "" if it has none */
	uint64_t vaddr, offset; /* of the nop; `offset` in the file's bytes of executable code */
	uint64_t semaphore;	/* file offset of the 16-bit count of those who look; 0: none */
};

/*
 * Reads an image's probes. Notes that are damaged, or at whose place there is no nop, are left out,
 * with one warning that counts them; those of functions that the linker has dropped, without.
 * Returns 0 (also if there are none: then the count is 0), or -ENOMEM, -EIO, not logged. The result
 * does not need the image.
 */
int usdt__load(const struct elf_image *img, struct usdt **out);
void usdt__free(struct usdt *u); /* accepts NULL */

/* In the order of their notes, as the linker left them. They and their texts are the object's. */
const struct usdt_probe *usdt__probes(const struct usdt *u, size_t *cnt);

#endif
