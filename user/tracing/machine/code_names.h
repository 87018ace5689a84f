/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of functions of any process of the machine, by an address in it. Of each file the symbol
 * tables are read that it has itself, no others; code without a symbol is one function of its file.
 * Files are known by device and inode, so a library is read once, however many processes map it.
 */
#ifndef PROFTRACE_MACHINE_CODE_NAMES_H
#define PROFTRACE_MACHINE_CODE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct code_names;

struct code_name {
	char *name;	    /* demangled */
	const char *symbol; /* raw */
	const char *module; /* path of the file, or "[kernel]", "[unknown]", "[vdso]" */
	uint64_t offset;    /* of the function in the file */
};

/* Returns 0 or -errno, with one line logged: the kernel's symbols may be hidden, which is no error.
 */
int code_names__new(struct code_names **out);
void code_names__free(struct code_names *c); /* accepts NULL */

/* The number of the function whose code is at `ip` of the process, or of the kernel: from 0 on, and
 * never another one's. Reads what the process has mapped at the first call, and once more in a
 * round if the address is in none of that. -ENOMEM. */
int64_t code_names__find(struct code_names *c, pid_t pid, uint64_t ip, bool in_kernel);

/* A new round begins: processes may have mapped more since. `pid` is gone: forget it. */
void code_names__round(struct code_names *c);
void code_names__forget(struct code_names *c, pid_t pid);

size_t code_names__count(const struct code_names *c);
const struct code_name *code_names__at(const struct code_names *c, size_t number);

#endif
