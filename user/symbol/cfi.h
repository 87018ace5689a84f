/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwind rules of an FDE at its first instruction. Inside symbol/ only. */
#ifndef PROFTRACE_SYMBOL_CFI_H
#define PROFTRACE_SYMBOL_CFI_H

#include <stdbool.h>

struct dwarf_cursor;

/*
 * Whether code that begins under these rules can have been entered by a call: the return address is
 * on top of the stack, and no register has been saved. `common` and `own` are at the instructions
 * of a CIE and of its FDE (DWARF 5, 6.4.2). False if they are damaged or compute what they say.
 */
bool cfi_begins_as_called(struct dwarf_cursor common, struct dwarf_cursor own);

#endif
