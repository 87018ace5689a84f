// SPDX-License-Identifier: GPL-2.0-or-later
/* SWITCH(void **from, void *to): keeps this stack in *from, goes on where `to` was kept. */
	.text
	.globl SWITCH
	.type SWITCH, @function
SWITCH:
	push %rbp
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	pop %rbp
	ret
	.size SWITCH, . - SWITCH

	.section .note.GNU-stack, "", @progbits
