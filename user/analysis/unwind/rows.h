/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows: how the caller of a call is found at any address of an object's code, in the form that the
 * programs in the kernel search (struct wire_unwind_row).
 */
#ifndef PROFTRACE_UNWIND_ROWS_H
#define PROFTRACE_UNWIND_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct wire_unwind_row;

/* The rows of one object. The first row is at 0, the last is a gap. */
struct unwind_rows {
	struct wire_unwind_row *rows; /* by start, each with another rule than the one before, or
				       * where a function begins */
	size_t cnt;
	uint64_t base; /* the vaddr that starts count from */
};

/*
 * Makes an object's rows from its .eh_frame, and of Go's code from its table. Where FDEs overlap,
 * none of them is believed. Returns 0, -ENOENT (it has none), -ENOEXEC (damaged), -E2BIG (more
 * rules than any program has, or code spread over 4 GB), -EIO, -ENOMEM; logs nothing. On success
 * free with unwind_rows__free().
 */
int unwind_rows__load(const struct elf_image *img, struct unwind_rows *out);
void unwind_rows__free(struct unwind_rows *r); /* of zeroed ones, too */

#endif
