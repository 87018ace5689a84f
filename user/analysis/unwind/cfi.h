/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwind rules of an FDE: DWARF 5, 6.4. Inside unwind/ only. */
#ifndef PROFTRACE_UNWIND_CFI_H
#define PROFTRACE_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/dwarf_cursor.h"

struct arch_dwarf;
struct eh_cfa;
struct eh_row;

/* DWARF's numbers of x86-64's registers. */
#define CFI_RBX		   3
#define CFI_RBP		   6
#define CFI_RSP		   7
#define CFI_RETURN_ADDRESS 16

/* The upper two bits are the operation, the lower ones its operand. */
enum {
	CFI_ADVANCE_LOC = 1,
	CFI_OFFSET = 2,
	CFI_RESTORE = 3,
};

/* The others. */
enum {
	CFI_NOP = 0x00,
	CFI_SET_LOC = 0x01,
	CFI_ADVANCE_LOC1 = 0x02,
	CFI_ADVANCE_LOC2 = 0x03,
	CFI_ADVANCE_LOC4 = 0x04,
	CFI_OFFSET_EXTENDED = 0x05,
	CFI_RESTORE_EXTENDED = 0x06,
	CFI_UNDEFINED = 0x07,
	CFI_SAME_VALUE = 0x08,
	CFI_REGISTER = 0x09,
	CFI_REMEMBER_STATE = 0x0a,
	CFI_RESTORE_STATE = 0x0b,
	CFI_DEF_CFA = 0x0c,
	CFI_DEF_CFA_REGISTER = 0x0d,
	CFI_DEF_CFA_OFFSET = 0x0e,
	CFI_DEF_CFA_EXPRESSION = 0x0f,
	CFI_EXPRESSION = 0x10,
	CFI_OFFSET_EXTENDED_SF = 0x11,
	CFI_DEF_CFA_SF = 0x12,
	CFI_DEF_CFA_OFFSET_SF = 0x13,
	CFI_VAL_OFFSET = 0x14,
	CFI_VAL_OFFSET_SF = 0x15,
	CFI_VAL_EXPRESSION = 0x16,
	CFI_ARGS_SIZE = 0x2e, /* GNU's */
	CFI_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* One FDE. */
struct cfi_program {
	const struct arch_dwarf *arch;
	struct dwarf_cursor common, own; /* at the instructions of the CIE and of the FDE */
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t start, end; /* of the code, vaddrs */
	bool signal;	     /* of code that signals interrupt */
};

/*
 * Whether code that begins under these rules can have been entered by a call: the return address is
 * where a call leaves it, and no register has been saved. False if they are damaged or compute what
 * they say.
 */
bool cfi_begins_as_called(const struct cfi_program *p);

/* Fills in where the call's frame is at `cfa->vaddr`: EH_CFA_UNKNOWN if that is computed, or the
 * rules are damaged. */
void cfi_find_cfa(const struct cfi_program *p, struct eh_cfa *cfa);

/*
 * Calls `row` for each row of the FDE in order of address, the first at `start`; a nonzero result
 * ends it and is returned. Rules that are damaged end in a row of EH_RULE_UNKNOWN. x86-64 only.
 */
int cfi_for_each_row(const struct cfi_program *p, int (*row)(const struct eh_row *row, void *ctx),
		     void *ctx);

#endif
