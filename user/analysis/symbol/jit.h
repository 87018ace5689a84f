/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that processes make as they run: where it is, and what it is called. */
#ifndef PROFTRACE_SYMBOL_JIT_H
#define PROFTRACE_SYMBOL_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct jit_process;

struct jit {
	struct jit_process *processes;
	size_t cnt, cap;
};

/* The name of the code at an address, by the list that the process's compiler keeps, which is read
 * again if it has grown; NULL: it has none. Good until the next call. */
const char *jit__name(struct jit *j, pid_t pid, uint64_t address);

/* Whether it is time to look again what the process has mapped, as a stack has led to where no code
 * was known. Looks become rare if they find nothing: the other one tells what each has found, by a
 * hash, and whether some of it is code of no file. */
bool jit__look_is_due(struct jit *j, pid_t pid);
void jit__looked(struct jit *j, pid_t pid, uint64_t hash, bool makes_code);
/* Opens the lists of those that make code, now and then: when they have ended it is too late. */
void jit__open_lists(struct jit *j);

void jit__free(struct jit *j);

#endif
