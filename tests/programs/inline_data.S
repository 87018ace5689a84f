/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions with data inside their symbols, which looks like code: a probe there changes a result. */
	.text
	.globl	sum_table
	.type	sum_table, @function
/* Adds up bytes that read as returns and jumps. */
sum_table:
	push	%rbx
	lea	2f(%rip), %rsi
	xor	%eax, %eax
	xor	%ecx, %ecx
	call	nothing
1:	movzbl	(%rsi, %rcx), %edx
	add	%edx, %eax
	inc	%ecx
	cmp	$16, %ecx
	jne	1b
	pop	%rbx
	ret
2:	.byte	0xc3, 0xc3, 0x90, 0xc3, 0xc3, 0xc3, 0xe9, 1, 0, 0, 0, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3
	.size	sum_table, . - sum_table

	.globl	add_c4
	.type	add_c4, @function
/* Behind the jump stand two bytes that would swallow the next instructions. */
add_c4:
	push	%rbx
	mov	%edi, %ebx
	call	nothing
	jmp	1f
	.byte	0x48, 0xb8
1:	lea	1(%rbx), %eax
	add	$0xc3, %al
	pop	%rbx
	ret
	.fill	8, 1, 0x90
	.size	add_c4, . - add_c4

	.globl	call_over
	.type	call_over, @function
/* Adds up data whose address a call leaves on the stack. */
call_over:
	push	%rbx
	call	nothing
	call	1f
	.byte	0xc3, 0xc3, 0x90, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3
1:	pop	%rsi
	xor	%eax, %eax
	xor	%ecx, %ecx
2:	movzbl	(%rsi, %rcx), %edx
	add	%edx, %eax
	inc	%ecx
	cmp	$8, %ecx
	jne	2b
	pop	%rbx
	ret
	.size	call_over, . - call_over

	.globl	overlap
	.type	overlap, @function
/* The bytes behind 4 are an immediate, or instructions, as the argument tells. */
overlap:
	push	%rbx
	mov	%edi, %ebx
	call	nothing
	xor	%eax, %eax
	test	%ebx, %ebx
	jne	2f
	jmp	1f
2:	jmp	3f
3:	pop	%rbx
	jmp	4f
1:	pop	%rbx
	jmp	5f
4:	.byte	0xb8, 0x90
5:	nop
	nop
	ret
	ret
	.size	overlap, . - overlap

	.globl	nothing
	.type	nothing, @function
nothing:
	push	%rax
	xor	%eax, %eax
	xor	%ecx, %ecx
	pop	%rdx
	ret
	.size	nothing, . - nothing
	.section .note.GNU-stack, "", @progbits
