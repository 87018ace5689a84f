/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exchange: ends with the status that an xchg %r8,%rax makes; the kernel's emulation takes it for a
 * nop. */
	.text
	.globl	swapped
	.type	swapped, @function
swapped:
	xchg	%r8, %rax
	ret
	.size	swapped, . - swapped

	.globl	main
	.type	main, @function
main:
	push	%rbx
	mov	$1, %eax
	mov	$2, %r8d
	call	swapped
	pop	%rbx
	ret
	.size	main, . - main
	.section .note.GNU-stack, "", @progbits
