/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that decode an instruction: insn.c decodes; insn_uprobe.c says how the
 * kernel's uprobes run it, insn_cost.c whether it is dear. */
#ifndef PROFTRACE_ARCH_X86_64_INSN_INSIDE_H
#define PROFTRACE_ARCH_X86_64_INSN_INSIDE_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdint.h>

#include "arch/insn.h"

/* The fields that they look at. */
struct insn_fields {
	uint8_t op;
	bool map_0f;	 /* two-byte opcode */
	bool operand16;	 /* 66 prefix */
	bool bad_prefix; /* segment override or lock: the kernel refuses a probe */
	bool notrack;
	bool far;	      /* of the segment of fs or gs: a thread's own memory */
	bool locks, repeats;  /* f0, f3 prefix */
	uint8_t rex;	      /* the whole byte, 0: none */
	uint8_t mod, reg, rm; /* without REX extension */
	bool has_sib;
	uint8_t scale, index, base; /* of the SIB byte */
	int64_t disp, imm;
};

/* Whether the kernel takes a probe there. `out` has the flow of control. */
bool insn_uprobe__accepts(const ZydisDecodedInstruction *in, const struct insn_fields *f,
			  const struct insn *out);

/* Sets the class of nops of more than one byte, on kernels that know them. */
void insn_uprobe__classify_nop(const struct insn_fields *f, const uint8_t *bytes, struct insn *out);
void insn_uprobe__classify_nop10(const struct insn_fields *f, const uint8_t *bytes,
				 struct insn *out);

/* For insn.may_become_call. */
bool insn_uprobe__may_become_call(const struct insn_fields *f, const struct insn *in);

/* For insn.dear. */
bool insn_cost__is_dear(const ZydisDecodedInstruction *in, const struct insn_fields *f);

#endif
