/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions whose first instruction no C compiler can be made to choose. */

	.text

/* A 5-byte nop, as -fpatchable-function-entry and USDT leave them: the cheapest site there is. */
	.p2align 4
	.globl nop5_first
	.type nop5_first, @function
nop5_first:
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	push	%rbx
	mov	%rdi, %rbx
	call	untraced
	mov	8(%rbx), %rax
	pop	%rbx
	ret
	.size nop5_first, . - nop5_first

/* No instruction here can be emulated: the dearest kind of site. */
	.p2align 4
	.globl lea_only
	.type lea_only, @function
lea_only:
	lea	8(%rdi), %rax
	mov	(%rax), %rax
	ret
	.size lea_only, . - lea_only

/* A leaf whose entry can be emulated. */
	.p2align 4
	.globl push_leaf
	.type push_leaf, @function
push_leaf:
	push	%rbx
	mov	%rdi, %rbx
	mov	8(%rbx), %rax
	pop	%rbx
	ret
	.size push_leaf, . - push_leaf

	.section .note.GNU-stack, "", @progbits
