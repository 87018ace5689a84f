/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of code without symbols: by the ranges of .eh_frame, and by calls.
 */
#ifndef PROFTRACE_UNWIND_EH_FUNCTIONS_H
#define PROFTRACE_UNWIND_EH_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

struct elf_image;

#define EH_FUNCTION_NONE UINT32_MAX

struct eh_function {
	uint64_t vaddr, size;
	/* For a piece of a function, which is entered by jumps: the function's index, or its own if
	 * that is not known. For a whole function EH_FUNCTION_NONE. */
	uint32_t piece_of;
};

/*
 * Finds them, by address. `known` are the vaddrs of `known_cnt` functions that have names, ordered;
 * they are found again. Returns 0 (perhaps with none) or -ENOMEM; the caller frees *out.
 */
int eh_functions__find(const struct elf_image *img, const uint64_t *known, size_t known_cnt,
		       struct eh_function **out, size_t *cnt);

#endif
