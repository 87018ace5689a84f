/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions whose `ret`s are seen at branches before them. Each takes a number. */

.macro function name
	.p2align 4
	.globl \name
	.type \name, @function
\name:
.endm

.macro end name
	.size \name, . - \name
.endm

	.text

/* A branch that leads to the `ret` if taken, and a jump. */
function early_branch
	push	%rbx
	mov	%rdi, %rbx
	call	early_odd
	test	%eax, %eax
	je	1f
	mov	%rbx, %rdi
	call	early_more
	jmp	1f
	nop
1:	pop	%rbx
	ret
end early_branch

/* A branch that leads on if it is not taken. */
function early_way_on
	push	%rbx
	mov	%rdi, %rbx
	call	early_odd
	test	%eax, %eax
	jne	1f
	pop	%rbx
	ret
1:	mov	%rbx, %rdi
	call	early_more
	jmp	2f
2:	pop	%rbx
	ret
end early_way_on

/* A frame that `leave` takes down. */
function early_frame
	push	%rbp
	mov	%rsp, %rbp
	sub	$16, %rsp
	mov	%rdi, -8(%rbp)
	call	early_odd
	jmp	1f
1:	mov	-8(%rbp), %rax
	leave
	ret
end early_frame

/* Two `ret`s behind one branch, one at another. */
function early_shared
	push	%rbx
	mov	%rdi, %rbx
	call	early_odd
	test	%eax, %eax
	je	2f
	mov	%rbx, %rdi
	call	early_more
	test	$2, %ebx
	je	1f
	pop	%rbx
	ret
1:	mov	%rbx, %rdi
	call	early_more
2:	cmp	$100, %ebx
	ja	3f
	pop	%rbx
	ret
3:	xor	%eax, %eax
	pop	%rbx
	ret
end early_shared

/* Calls itself so many times. */
function early_recurse
	push	%rbx
	test	%rdi, %rdi
	je	1f
	dec	%rdi
	call	early_recurse
	jmp	1f
1:	pop	%rbx
	ret
end early_recurse

/* The branch that it may leave by is where its entry is probed, too. */
function early_guard
	test	$1, %dil
	je	1f
	sub	$8, %rsp
	call	early_more
	jmp	2f
	nop
2:	add	$8, %rsp
	ret
1:	mov	%rdi, %rax
	ret
end early_guard

	.section .note.GNU-stack, "", @progbits
