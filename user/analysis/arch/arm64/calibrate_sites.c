// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions to calibrate by, named as x86-64's sites: a push is a store below the stack
 * pointer, which the kernel steps, and a call costs what a jump does: it would lose the return
 * address. */
#include "arch/calibrate_sites.h"

#if defined(__aarch64__)

#define FUNCTION(NAME, BODY)                                                              \
	__asm__(".text\n.p2align 6\n.globl " #NAME "\n.type " #NAME ", %function\n" #NAME \
		":\n" BODY "\n.size " #NAME ", . - " #NAME "\n")
#define LABEL(NAME) ".globl " #NAME "\n" #NAME ":\n"

#define PUSH "str x29, [sp, #-16]!\n"
#define POP  "ldr x29, [sp], #16\n"

FUNCTION(calibrate_nop5, "nop\n ret");
FUNCTION(calibrate_nop10, "nop\n nop\n ret");
FUNCTION(calibrate_nop, "nop\n ret");
FUNCTION(calibrate_push, PUSH POP "ret");
FUNCTION(calibrate_jmp, "b 1f\n 1: ret");
FUNCTION(calibrate_jcc, "b.eq 1f\n 1: ret");
FUNCTION(calibrate_call, "b 1f\n 1: ret");
FUNCTION(calibrate_step, "mov x0, x1\n ret");
FUNCTION(calibrate_emul, "mov x0, x1\n ret");

FUNCTION(calibrate_left, "ret");
FUNCTION(calibrate_leaves_by_ret, PUSH POP LABEL(calibrate_ret) "ret");
FUNCTION(calibrate_emulated, PUSH POP LABEL(calibrate_emulated_ret) "ret");
FUNCTION(calibrate_leaves_by_jmp, PUSH POP LABEL(calibrate_exit_jmp) "b calibrate_left");
FUNCTION(calibrate_leaves_by_jcc,
	 PUSH POP "cmp x0, x0\n" LABEL(calibrate_exit_jcc) "b.eq calibrate_left\n ret");

FUNCTION(calibrate_cold, PUSH POP "ret");
FUNCTION(calibrate_passed, PUSH POP "ret");
FUNCTION(calibrate_target, PUSH POP "ret");
FUNCTION(calibrate_tail, PUSH POP "b calibrate_target");
FUNCTION(calibrate_burdened, PUSH POP "ret");
/* 24 KB of code with a thousand branches, of which some are taken, over as much data. */
FUNCTION(calibrate_program, "mov x1, #0\n mov x2, #0\n"
			    ".rept 1024\n"
			    "ldr x3, [x0, x2, lsl #3]\n add x1, x1, x3\n add x2, x2, #2\n"
			    "tbz x1, #7, 1f\n add x1, x1, #1\n 1:\n"
			    ".endr\n ret");
FUNCTION(calibrate_nested, PUSH POP "ret");
FUNCTION(calibrate_outer, "stp x29, x30, [sp, #-16]!\n blr x0\n ldp x29, x30, [sp], #16\n ret");
FUNCTION(calibrate_entered, PUSH POP "ret");
FUNCTION(calibrate_closed, PUSH POP "ret");
FUNCTION(calibrate_turn_a, PUSH POP "ret");
FUNCTION(calibrate_turn_b, PUSH POP "ret");

#endif
