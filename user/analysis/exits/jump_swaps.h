/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that switches stacks by setjmp() and longjmp(), and does not handle errors by them. */
#ifndef PROFTRACE_EXITS_JUMP_SWAPS_H
#define PROFTRACE_EXITS_JUMP_SWAPS_H

struct elf_image;

/*
 * Looks through an object that has both kinds of functions. *out becomes what some function does
 * ("setjmp(), then longjmp() elsewhere"), or NULL if none switches stacks. Code on other
 * architectures than x86-64, and files too large to be read, count as such that don't. Returns 0 or
 * -ENOMEM.
 */
int jump_swaps__look(const struct elf_image *img, const char **out);

#endif
