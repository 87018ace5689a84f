// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions to calibrate by: compilers cannot be made to begin them so, hence assembly. */
#include "arch/calibrate_sites.h"

#if defined(__x86_64__)

#define FUNCTION(NAME, BODY)                                                              \
	__asm__(".text\n.p2align 6\n.globl " #NAME "\n.type " #NAME ", @function\n" #NAME \
		":\n" BODY "\n.size " #NAME ", . - " #NAME "\n")
#define LABEL(NAME) ".globl " #NAME "\n" #NAME ":\n"

FUNCTION(calibrate_nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n ret");
FUNCTION(calibrate_nop10, "nop\n .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n ret");
FUNCTION(calibrate_nop, "nop\n ret");
FUNCTION(calibrate_push, "push %rbp\n pop %rbp\n ret");
FUNCTION(calibrate_jmp, ".byte 0xeb, 0x00\n ret");
FUNCTION(calibrate_jcc, ".byte 0x74, 0x00\n ret");
FUNCTION(calibrate_call, "call 1f\n ret\n 1: ret");
FUNCTION(calibrate_step, "mov %rdi, %rax\n ret");
FUNCTION(calibrate_emul, "lea 1(%rdi), %rax\n ret");

FUNCTION(calibrate_left, "ret");
FUNCTION(calibrate_leaves_by_ret, "push %rbp\n pop %rbp\n" LABEL(calibrate_ret) "ret");
FUNCTION(calibrate_emulated, "push %rbp\n pop %rbp\n" LABEL(calibrate_emulated_ret) "ret");
FUNCTION(calibrate_leaves_by_jmp,
	 "push %rbp\n pop %rbp\n" LABEL(calibrate_exit_jmp) "jmp calibrate_left");
FUNCTION(calibrate_leaves_by_jcc, "push %rbp\n pop %rbp\n cmp %rax, %rax\n" LABEL(
					  calibrate_exit_jcc) "je calibrate_left\n ret");

FUNCTION(calibrate_cold, "push %rbp\n pop %rbp\n ret");
FUNCTION(calibrate_passed, "push %rbp\n pop %rbp\n ret");
FUNCTION(calibrate_target, "push %rbp\n pop %rbp\n ret");
FUNCTION(calibrate_tail, "push %rbp\n pop %rbp\n jmp calibrate_target");
FUNCTION(calibrate_burdened, "push %rbp\n pop %rbp\n ret");
/* 16 KB of code with a thousand branches, of which some are taken, over as much data. */
FUNCTION(calibrate_program, "xor %eax, %eax\n xor %ecx, %ecx\n"
			    ".rept 1024\n"
			    "add (%rdi, %rcx, 8), %rax\n add $2, %ecx\n"
			    "test %al, %al\n jns 1f\n inc %rax\n 1:\n"
			    ".endr\n ret");
FUNCTION(calibrate_nested, "push %rbp\n pop %rbp\n ret");
FUNCTION(calibrate_outer, "push %rbp\n call *%rdi\n pop %rbp\n ret");
FUNCTION(calibrate_entered, "push %rbp\n pop %rbp\n ret");
FUNCTION(calibrate_closed, "push %rbp\n pop %rbp\n ret");
FUNCTION(calibrate_turn_a, "push %rbp\n pop %rbp\n ret");
FUNCTION(calibrate_turn_b, "push %rbp\n pop %rbp\n ret");

#endif
