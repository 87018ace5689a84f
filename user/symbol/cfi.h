/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwind rules of an FDE: DWARF 5, 6.4. Inside symbol/ only. */
#ifndef PROFTRACE_SYMBOL_CFI_H
#define PROFTRACE_SYMBOL_CFI_H

#include <stdbool.h>
#include <stdint.h>

struct dwarf_cursor;
struct eh_cfa;

/*
 * Whether code that begins under these rules can have been entered by a call: the return address is
 * on top of the stack, and no register has been saved. `common` and `own` are at the instructions
 * of a CIE and of its FDE (DWARF 5, 6.4.2). False if they are damaged or compute what they say.
 */
bool cfi_begins_as_called(struct dwarf_cursor common, struct dwarf_cursor own);

/*
 * Fills in where the call's frame is at `cfa->vaddr`, in code that begins at `start`; `factor` is
 * the CIE's of code. It stays EH_CFA_UNKNOWN if that is computed, or the rules are damaged.
 */
void cfi_find_cfa(struct dwarf_cursor common, struct dwarf_cursor own, uint64_t factor,
		  uint64_t start, struct eh_cfa *cfa);

#endif
