/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of instructions that can be probed, by how the kernel's uprobes run them. */
#ifndef PROFTRACE_ARCH_SITES_H
#define PROFTRACE_ARCH_SITES_H

/* The kind of instruction that an entry probe sits on. All but STEP are emulated, by the kernel or
 * by us: one trap instead of two. */
enum site_class {
	SITE_NOP5,  /* a nop of five bytes within a page, on 6.18: becomes a call, no trap */
	SITE_NOP10, /* one of ten bytes within a page, on 7.2: becomes a call, no trap */
	SITE_NOP,   /* any other that is emulated: 90 with any prefixes; since 6.18 the usual long
		       ones, on 7.2 all long ones */
	SITE_PUSH,
	SITE_JMP, /* also what costs the same: arm64's adr and adrp, and its ret */
	SITE_JCC,
	SITE_CALL,
	SITE_STEP, /* single-stepped */
	SITE_EMUL, /* would be, but our program emulates it (7.0): arch/x86_64/emulation.c */
	SITE_CLASSES,
};

const char *site_class__name(enum site_class c);

/* The nops that the kernel replaces by calls once they are probed. */
enum call_nops {
	CALL_NOPS_NONE,
	CALL_NOPS_5, /* 6.18: they write below the stack pointer, and forked children die of them */
	CALL_NOPS_10, /* 7.2: they leave the red zone alone, and forked children can go on */
};

#endif
