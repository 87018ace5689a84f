/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Return addresses that a function hands on: it leaves by a jump, and the code that it jumps to
 * returns for it; or it calls mcount(), which notes who has called the function.
 */
#ifndef PROFTRACE_EXITS_TAILS_H
#define PROFTRACE_EXITS_TAILS_H

#include "code/code.h"

struct cold_pieces;
struct elf_pages;
struct plan_object;
struct tails;

/*
 * For functions of one object, whose symbols and, if there are any, unwind tables are loaded; both
 * are borrowed, as `cold` and `pages`, of the object's image, are. Returns 0 or -ENOMEM.
 */
int tails__new(const struct plan_object *obj, const struct cold_pieces *cold,
	       struct elf_pages *pages, struct tails **out);
void tails__free(struct tails *t); /* accepts NULL */

/*
 * The reason against a return probe at a function that code_decode() has decoded into *code, by
 * where it jumps to and whether it calls mcount(); NULL: none. It must not jump into the midst of
 * another function, as pieces of code do that are no functions, nor to one that calls mcount() or
 * that return_safety__look() has a doubt about, as to a setjmp: `xor %esi,%esi; jmp __sigsetjmp`.
 * Jumps through registers and memory are not seen.
 */
const char *tails__doubt(struct tails *t, const struct code *code);

#endif
