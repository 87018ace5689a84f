/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the parameters of functions lie, by the names that debug information (DWARF) gives them,
 * and what lies behind those that are pointers. By the rules of the System V ABI; what these need
 * not say (structures by value) is refused, as is all that comes behind it.
 */
#ifndef PROFTRACE_DWARF_PARAMETERS_H
#define PROFTRACE_DWARF_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct parameters;

enum parameter_class {
	PARAMETER_SIGNED,
	PARAMETER_UNSIGNED,
	PARAMETER_POINTER,
	PARAMETER_TEXT, /* a pointer to characters */
	PARAMETER_FLOAT,
	PARAMETER_CHARACTERS, /* a member that is an array of them, counted as a pointer */
	PARAMETER_OTHER,      /* cannot be read as one value */
};

struct parameter {
	uint8_t class;	/* enum parameter_class */
	uint8_t bytes;	/* 1, 2, 4 or 8 */
	uint8_t number; /* among those passed as integers, from 1 on */
	bool behind;	/* it is what lies `offset` bytes behind the pointer there */
	int32_t offset;
};

/* Opens what describes the image's functions; `root` as in symtab__load(). Returns 0, or -ENOENT
 * (no debug information), -ENOTSUP (it is kept in a way that is not read), -ENOMEM, not logged. The
 * image must outlive it. */
int parameters__open(const struct elf_image *img, const char *root, struct parameters **out);
void parameters__free(struct parameters *p); /* accepts NULL */

/* The name that is looked for: parameter "request", or a member behind it, as "head.id" of
 * "request->head.id". */
struct parameter_path {
	const char *name;
	const char *member; /* NULL: the parameter itself */
};

/* Finds a parameter of the function at `vaddr`. Returns whether it can be read; else `why`, of
 * `size` bytes, tells why not, as part of a line. */
bool parameters__find(struct parameters *p, uint64_t vaddr, const struct parameter_path *path,
		      struct parameter *out, char *why, size_t size);

#endif
