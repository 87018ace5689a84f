/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function for each way in which the instructions before a probe's site may change arguments.
 */

.macro function name
	.p2align 4
	.globl \name
	.type \name, @function
\name:
.endm

.macro end name
	.size \name, . - \name
.endm

/* The body of most functions: returns the first argument plus one. */
.macro rest name
	lea	1(%rdi), %rax
	pop	%rbx
	ret
end \name
.endm

	.text

function site_push
	push	%rbx
	rest site_push

function site_endbr_push
	endbr64
	push	%rbx
	rest site_endbr_push

function site_mov
	mov	%rdi, %rax
	push	%rbx
	rest site_mov

/* The push is behind what changes the first argument, ... */
function site_changed
	mov	%rsi, %rdi
	push	%rbx
	mov	%rdx, %rdi
	rest site_changed

/* ... a part of it, ... */
function site_part
	mov	$7, %dil
	push	%rbx
	rest site_part

/* ... the third one, without naming it, ... */
function site_implied
	mov	%rdi, %rax
	cqto
	push	%rbx
	rest site_implied

/* ... one that is on the stack, ... */
function site_stack
	movq	$99, 8(%rsp)
	push	%rbx
	rest site_stack

/* ... or what lies behind a pointer. */
function site_memory
	movq	$99, 8(%rcx)
	push	%rbx
	rest site_memory

/* The stack pointer is elsewhere at the push. */
function site_moved
	sub	$24, %rsp
	push	%rbx
	lea	1(%rdi), %rax
	pop	%rbx
	add	$24, %rsp
	ret
end site_moved

function site_step
	lea	1(%rdi), %rax
	ret
end site_step

function site_nop
	nop
	lea	1(%rdi), %rax
	ret
end site_nop

function site_nop5
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	lea	1(%rdi), %rax
	ret
end site_nop5

function site_jmp
	jmp	2f
1:	ret
2:	lea	1(%rdi), %rax
	jmp	1b
end site_jmp

function site_jcc
	jc	1f
	lea	1(%rdi), %rax
	ret
1:	lea	1(%rdi), %rax
	ret
end site_jcc

function site_call
	call	nothing
	lea	1(%rdi), %rax
	ret
end site_call

nothing:
	ret

/* Leaves by a jump: it has no result of its own. */
function site_tail
	push	%rbx
	lea	1(%rdi), %rdi
	pop	%rbx
	jmp	site_tail_end
end site_tail

function site_tail_end
	push	%rbx
	rest site_tail_end

/* Cannot be probed before it has changed memory. */
function locked
	lock addq $1, locked_cnt(%rip)
	push	%rbx
	rest locked

	.bss
	.p2align 3
locked_cnt:
	.zero	8

	.section .note.GNU-stack, "", @progbits
