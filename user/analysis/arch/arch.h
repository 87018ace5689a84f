/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A processor's architecture behind one interface: registers, instructions, what the
 * kernel's uprobes make of them, and how files are made for it. Each architecture is a folder
 * (x86_64/ is the first) that fills in one struct arch; bpf/arch_*.bpf.h is the same for what runs
 * in the kernel. All else asks here, so what a port takes is a folder, that header, and a row in
 * arch.c.
 *
 * A file tells its architecture: elf_image__arch(). Files of others than this machine's can be
 * planned (proftrace -l -x FILE), not traced.
 */
#ifndef PROFTRACE_ARCH_ARCH_H
#define PROFTRACE_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/code_refs.h"

struct insn;
struct insn_decoder;
struct operands;
struct wire_emulation;

#define ARCH_AHEAD     72 /* bytes */
#define ARCH_PROBE_NOP 5  /* bytes of the longest nop of a static probe */

/* Types of relocations (ELF64_R_TYPE). */
struct arch_relocations {
	uint32_t relative; /* the file's address plus a constant */
	uint32_t absolute; /* a symbol's address, plus a constant */
	uint32_t function; /* the same in the global offset table, for calls of imports */
	uint32_t data;	   /* the same for all else */
};

/* DWARF's numbers of registers, and how a call leaves the stack: at a function's first instruction
 * the frame's address (CFA) lies `entered` bytes above the stack pointer. */
struct arch_dwarf {
	uint8_t stack_pointer, frame_pointer, return_address;
	uint8_t entered;
};

/* A call or a jump that names its target. */
struct arch_transfer {
	int64_t distance; /* of the target, or of the pointer to it, behind the instruction's end */
	uint8_t length;	  /* of the instruction, bytes */
	bool by_slot;	  /* through a pointer at a fixed place */
	bool calls;	  /* false: it jumps */
};

struct arch {
	const char *name;   /* as messages call it */
	uint16_t machine;   /* ELF's e_machine */
	bool is_host;	    /* what this program runs on */
	uint16_t nr_uprobe; /* the system call that calls made of nops end in; 0: there is none */
	uint16_t ip_offset; /* of the instruction pointer in what BPF programs get of registers, for
			       programs that emulate instructions; 0: nothing is to be
			       emulated */
	bool knows_calls;   /* BPF programs know a system call's number without its tracepoint
			       (system_call_number() in bpf/) */
	struct arch_relocations relocations;
	struct arch_dwarf dwarf;
	/* Registers as arch/operands.h numbers them. */
	uint32_t preserved;   /* by calls: a bit for each */
	uint8_t arguments[8]; /* of integers and pointers, in order */
	uint8_t arguments_cnt;

	uint8_t float_arguments_cnt; /* of floating-point numbers, in registers of their own */
	uint8_t landing[4];	     /* the instruction that indirect calls may lead to */
	/* Bytes between the thread pointer and a program's first thread-local variable, but for
	 * alignment; 0: the last one ends at the thread pointer. */
	uint8_t thread_header;

	/* Whether that is a nop as static probes have it (sys/sdt.h). */
	bool (*is_probe_nop)(const uint8_t code[ARCH_PROBE_NOP]);

	/* Makes a decoder. Returns it, or NULL without memory. */
	struct insn_decoder *(*decoder_new)(void);
	void (*decoder_free)(struct insn_decoder *d);
	/* Has the decoder forget the instructions that it remembers, as other details are wanted of
	 * them now. NULL: it remembers none. */
	void (*decoder_forget)(struct insn_decoder *d);
	bool (*decode)(struct insn_decoder *d, const uint8_t *bytes, size_t len, struct insn *out);

	/* Decodes one instruction from at most `len` bytes, for its operands. Returns whether there
	 * is a valid one. NULL: nobody has written that; then functions get no return probes. */
	bool (*operands)(const uint8_t *bytes, size_t len, struct operands *out);

	/* Whether a program at the instruction, at a function's entry, can do what that does: then
	 * *out says what, but for its place. Nothing of it shows in the stack pointer nor in
	 * arguments. NULL: none can. */
	bool (*emulation)(const uint8_t *bytes, size_t len, struct wire_emulation *out);

	/*
	 * Decodes `size` bytes at `vaddr` one instruction after the other, and visits what they
	 * refer to. What is no instruction is passed over. `plain`: remembers instructions that
	 * refer to nothing, zeroed before the first call of several; NULL: this is the only one.
	 * Returns 0 or what the visitor has returned.
	 */
	int (*visit_refs)(struct prefix_memo *plain, const uint8_t *bytes, size_t size,
			  uint64_t vaddr, code_ref_visitor visit, void *ctx);
	/* Whether the bytes are stubs alone, as linkers make them for imports: each jumps through a
	 * pointer or to the other stubs, and padding follows. */
	bool (*is_stubs)(const uint8_t *bytes, size_t size);

	/* The first place from `from` on before `size` where an instruction that loads the stack
	 * pointer may begin: cheap, and mostly right. An instruction that begins one byte behind
	 * it counts, too. Returns `size` if there is none. ARCH_AHEAD bytes behind must be there.
	 * NULL where `operands` is. */
	size_t (*find_stack_load)(const uint8_t *bytes, size_t from, size_t size);

	/* The first place from `from` on where a call or a jump may lie that names its target, all
	 * of it before `size`. Returns `size` if there is none. NULL where `operands` is. */
	size_t (*find_transfer)(const uint8_t *bytes, size_t from, size_t size,
				struct arch_transfer *out);
};

extern const struct arch arch_x86_64, arch_arm64;

/* The architecture of an ELF file, by its e_machine; NULL: it is not supported. */
const struct arch *arch__of_machine(uint16_t machine);

/* The architecture that this program runs on. */
const struct arch *arch__host(void);

#endif
