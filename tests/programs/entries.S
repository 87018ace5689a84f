/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function for each kind of first instruction. Each takes a number and returns it plus one. */

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

function entry_push
	push	%rbp
	lea	1(%rdi), %rax
	pop	%rbp
	ret
end entry_push

function entry_endbr_push
	endbr64
	push	%rbx
	lea	1(%rdi), %rax
	pop	%rbx
	ret
end entry_endbr_push

function entry_mov
	mov	%rdi, %rax
	push	%rbp
	inc	%rax
	pop	%rbp
	ret
end entry_mov

/* No instruction of the entry block can be emulated, and the stack pointer moves at once. */
function entry_sub
	sub	$24, %rsp
	lea	1(%rdi), %rax
	add	$24, %rsp
	ret
end entry_sub

function entry_lea
	lea	1(%rdi), %rax
	ret
end entry_lea

function entry_nop5
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	lea	1(%rdi), %rax
	ret
end entry_nop5

function entry_endbr_nop5
	endbr64
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	lea	1(%rdi), %rax
	ret
end entry_endbr_nop5

function entry_nop
	nop
	lea	1(%rdi), %rax
	ret
end entry_nop

function entry_jmp
	jmp	2f
1:	ret
2:	lea	1(%rdi), %rax
	jmp	1b
end entry_jmp

function entry_jcc
	jc	1f
	lea	1(%rdi), %rax
	ret
1:	lea	1(%rdi), %rax
	ret
end entry_jcc

function entry_call
	call	entry_push
	ret
end entry_call

/* The kernel refuses a probe on a lock prefix; the push behind it will do. */
function entry_lock
	lock addq $1, entry_lock_cnt(%rip)
	push	%rbp
	lea	1(%rdi), %rax
	pop	%rbp
	ret
end entry_lock

/* No instruction of the first block will do, and nothing else is reached exactly once. */
function entry_segment
	mov	%fs:0, %rax
	lea	1(%rdi), %rax
	ret
end entry_segment

/* The first instruction runs eight times a call. */
function entry_loop
	inc	%ecx
	lea	1(%rdi), %rax
	and	$7, %ecx
	jnz	entry_loop
	ret
end entry_loop

/* A loop to the entry, but with a push behind the loop, which runs once. */
function entry_loop_push
1:	inc	%ecx
	and	$7, %ecx
	jnz	1b
	push	%rbp
	lea	1(%rdi), %rax
	pop	%rbp
	ret
end entry_loop_push

/* A call of itself by a jump: the frame is gone by then. Two calls where one is made. */
function entry_self_tail
	push	%rbp
	inc	%ecx
	and	$1, %ecx
	pop	%rbp
	jnz	entry_self_tail
	lea	1(%rdi), %rax
	ret
end entry_self_tail

function entry_ret
	ret
end entry_ret

function entry_repz_ret
	repz ret
end entry_repz_ret

/* Two ways out, one of them a tail call. */
function entry_tail
	test	$1, %dil
	jz	entry_push
	lea	1(%rdi), %rax
	ret
end entry_tail

	.bss
	.globl entry_lock_cnt
	.p2align 3
entry_lock_cnt:
	.zero	8

	.section .note.GNU-stack, "", @progbits
