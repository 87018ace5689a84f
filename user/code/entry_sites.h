/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entry block is the straight line from the first instruction to the first branch, or to the
 * first instruction that something else may jump to: what lies in it runs exactly once a call. As
 * targets are only known after the whole function has been read, candidates for probes are
 * collected first and cut afterwards. Inside code/ only.
 */
#ifndef PROFTRACE_CODE_ENTRY_SITES_H
#define PROFTRACE_CODE_ENTRY_SITES_H

#include <stdint.h>

struct code_scan;
struct insn;

/* Takes an instruction of the entry block for a candidate, if it can be one. */
void entry_sites__note(struct code_scan *s, const struct insn *in, uint64_t vaddr);

/* Takes note of what runs before the sites to come. */
void entry_sites__pass(struct code_scan *s, const struct insn *in);

/* Follows the stack pointer through the entry block; ends the block where it is lost. */
void entry_sites__follow_stack(struct code_scan *s, const struct insn *in);

/* Drops the candidates that something may jump to or past, `next_label` (a vaddr) included. */
void entry_sites__cut(struct code_scan *s, uint64_t next_label);

#endif
