/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind tables on their way to the programs in the kernel (--callers and samples). */
#ifndef PROFTRACE_ATTACH_CALLERS_H
#define PROFTRACE_ATTACH_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tracer;
struct wire_unwind_page;
struct wire_unwind_space;

/* Whether the tracer unwinds, and how many tables there may be: numbers from 1 on. 0: it does not.
 */
uint32_t tracer__unwind_tables(const struct tracer *tr);

/* The descriptor of the program that a clock is to call for samples on paths; -ENOTSUP: there is
 * none. */
int tracer__sample_program(const struct tracer *tr);

/* Makes a table, which is put in place before a process's code refers to it. Returns 0 or -errno.
 */
int tracer__put_table(struct tracer *tr, uint32_t number, const struct wire_unwind_page *pages,
		      uint32_t cnt);
/* Replaces the ranges of code that a process is known to have mapped. Returns 0 or -errno. */
int tracer__put_space(struct tracer *tr, pid_t pid, const struct wire_unwind_space *space);

/* The kernel's text for an address of its own, as "vfs_read+0x1a/0x340"; for a module's with "
 * [ext4]" behind it. False: the kernel cannot be asked, as where no samples are taken on paths. A
 * kallsyms_say: `tracer` is a struct tracer. */
bool tracer__say_kernel(void *tracer, uint64_t address, char *said, size_t size);

/* From now on calls are recorded with their callers. */
void tracer__unwind(struct tracer *tr);

/* How often a stack has led to where no code was known to be, and in which process last. */
uint64_t tracer__unwind_astray(const struct tracer *tr, pid_t *pid);

/* Time that unwinding has taken so far, in ns, and how often it was done. */
void tracer__unwind_cost(const struct tracer *tr, uint64_t *ns, uint64_t *cnt);

#endif
