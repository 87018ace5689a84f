/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the objects that switch stacks, whatever their functions are called. */
#ifndef PROFTRACE_EXITS_STACK_SWITCHES_H
#define PROFTRACE_EXITS_STACK_SWITCHES_H

#include <stddef.h>

struct plan;
struct target;

/*
 * Asks the code of the plan's objects, from the first one on, and adds TRAIT_SWITCHES to those that
 * load the stack pointer as a switch does, or that switch by setjmp() and longjmp(). Libraries are
 * asked only while that may make a difference: it takes 1 to 3 ms for a megabyte of code. Returns 0
 * or -ENOMEM.
 */
int stack_switches__look(struct plan *p, const struct target *t, size_t first);

#endif
