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
#include <sys/types.h>

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

/* Finds a variable of a library; its `offset` is from the first of the library's variables. */
bool thread_variable__in_library(const struct elf_image *img, const char *name,
				 struct thread_variable *out);

/* A library that a process has loaded: by what the dynamic linker's list knows it. */
struct thread_library {
	pid_t pid;
	uint64_t list;	  /* address of `_r_debug` in the process */
	uint64_t dynamic; /* of the library's dynamic section */
	uint32_t field;	  /* where its entry has the distance of its variables, in bytes */
};

/* Makes the offset one from the thread pointer. Returns 0; -ERANGE: each thread has the variables
 * elsewhere, as the library was loaded by dlopen(); else -errno: the list does not tell. */
int thread_variable__place(const struct elf_image *img, const struct thread_library *in,
			   struct thread_variable *v);

#endif
