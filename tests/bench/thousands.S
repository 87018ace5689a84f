/* SPDX-License-Identifier: GPL-2.0-or-later */
/* f_0 to f_9999 and the table of them. A C compiler takes a quarter of a minute for as many. */
	.altmacro
	.text

	.macro function number
	.globl	f_\number
	.type	f_\number, @function
f_\number:
	push	%rbp
	mov	%rsp, %rbp
	call	body
	inc	%rax
	pop	%rbp
	ret
	.size	f_\number, . - f_\number
	.pushsection .data.rel.ro, "aw"
	.quad	f_\number
	.popsection
	.endm

	.section .data.rel.ro, "aw"
	.globl	table
	.balign	8
table:
	.text
	.set	i, 0
	.rept	10000
	function %i
	.set	i, i + 1
	.endr

	.section .note.GNU-stack, "", @progbits
