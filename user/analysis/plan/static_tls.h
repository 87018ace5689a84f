/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds thread-local variables of a process's libraries. */
#ifndef PROFTRACE_PLAN_STATIC_TLS_H
#define PROFTRACE_PLAN_STATIC_TLS_H

#include <stdint.h>

struct elf_image;
struct target;
struct thread_variable;

/*
 * Gives a variable of library `object` (thread_variable__in_library()) its place in a process.
 * `images` has one for each object of the target that the process has mapped, else NULL. Returns as
 * thread_variable__place(), and -ENOTSUP if the dynamic linker is not glibc's.
 */
int static_tls__place(const struct target *t, uint32_t process,
		      const struct elf_image *const *images, uint32_t object,
		      struct thread_variable *v);

#endif
