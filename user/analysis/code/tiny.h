/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tiny functions: to trace them would cost many times what they do themselves. */
#ifndef PROFTRACE_CODE_TINY_H
#define PROFTRACE_CODE_TINY_H

struct code;

/* Why the function is not worth a probe, unless it was asked for; NULL: it is worth one. */
const char *tiny__reason(const struct code *code);

/* How many instructions it has, if it is so tiny; else 0. */
unsigned tiny__insns(const struct code *code);

/*
 * How many instructions a call of it runs at most, if it can do nothing but run them and return: no
 * calls, no loops, no traps, nothing dear. Then its leave needs no probe: it comes right after its
 * entry. 0: it may do something else, or takes long enough to be measured.
 */
unsigned tiny__returns_within(const struct code *code);

#endif
