/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function for each kind of return instruction, and of place for one. Each takes a number and
 * returns it plus one. */

.macro function name
	.p2align 4
	body \name
.endm

.macro body name
	.globl \name
	.type \name, @function
\name:
.endm

.macro end name
	.size \name, . - \name
.endm

	.text

function returns_plain
	push	%rbx
	call	returns_inner
	pop	%rbx
	ret
end returns_plain

function returns_rep
	push	%rbx
	call	returns_inner
	pop	%rbx
	rep ret
end returns_rep

function returns_bnd
	push	%rbx
	call	returns_inner
	pop	%rbx
	bnd ret
end returns_bnd

/* Gives back what its caller has pushed, too. */
function returns_pop
	push	%rbx
	call	returns_inner
	pop	%rbx
	ret	$8
end returns_pop

function returns_push
	push	%rdi
	call	returns_pop
	ret
end returns_push

/* The callee returns to a probed `ret`, whose address is the word below the stack pointer then. */
function returns_at_once
	call	returns_inner
	ret
end returns_at_once

/* Calls itself. */
function returns_again
	push	%rbx
	mov	%rdi, %rbx
	test	$3, %dil
	je	1f
	dec	%rdi
	call	returns_again
1:	lea	1(%rbx), %rax
	pop	%rbx
	ret
end returns_again

/* Comes to its `ret` twice. */
function returns_itself
	lea	1f(%rip), %rax
	push	%rax
	lea	1(%rdi), %rax
1:	ret
end returns_itself

/* The last instruction is a function of its own. */
function returns_into
	push	%rbx
	call	returns_inner
	pop	%rbx
body returns_alone
	ret
end returns_into
end returns_alone

function returns_inner
	push	%rbx
	lea	1(%rdi), %rax
	pop	%rbx
	ret
end returns_inner

/* The call is 6 bytes behind the begin of a page, and the `ret` as far behind that of another one.
 */
	.p2align 12
body returns_near
	push	%rbx
	call	returns_far
	pop	%rbx
	ret
end returns_near
	.p2align 12
body returns_far
	lea	1(%rdi), %rax
	push	%rbx
	pop	%rbx
	ret
end returns_far

	.section .note.GNU-stack, "", @progbits
