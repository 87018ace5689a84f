/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thread-local variables of a program (`static __thread char request_id[40]`), which each thread
 * has at the same distance from its thread pointer. Example on x86-64: with 48 bytes of such
 * variables `request_id`, the first one, lies at %fs:-48.
 */
#ifndef PROFTRACE_SYMBOL_THREAD_VARIABLE_H
#define PROFTRACE_SYMBOL_THREAD_VARIABLE_H

#include <stdbool.h>
#include <stdint.h>

struct elf_image;

struct thread_variable {
	int32_t offset; /* bytes from the thread pointer */
	uint64_t size;	/* bytes */
};

/* Finds a variable by its name, in C++ also by the last part of it ("id" of `request::id`), among
 * the symbols of a program. Returns whether it is there; a library's have no place that the file
 * tells. */
bool thread_variable__find(const struct elf_image *img, const char *name,
			   struct thread_variable *out);

#endif
