/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that begin with each kind of instruction that our programs emulate where the kernel
 * lets them write registers, and with some that they leave to the kernel. None has another
 * instruction that the kernel would emulate. Each emul_... has a try_..., which makes the registers
 * ready; this takes a number and returns it plus one.
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

/* Calls emul_NAME and returns what it does. */
.macro try name
function try_\name
	call	emul_\name
	ret
end try_\name
.endm

	.text

/* From each register to %rax. */
.macro from register
function emul_from_\register
	mov	%\register, %rax
	ret
end emul_from_\register
function try_from_\register
	push	%\register
	lea	1(%rdi), %\register
	call	emul_from_\register
	pop	%\register
	ret
end try_from_\register
.endm
.irp register, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
	from \register
.endr

function emul_from_rsp
	mov	%rsp, %rax
	ret
end emul_from_rsp
function try_from_rsp
	call	emul_from_rsp
	sub	%rsp, %rax
	lea	9(%rdi, %rax), %rax
	ret
end try_from_rsp

/* To each register that may be written to. */
.macro to register
function emul_to_\register
	lea	1(%rdi), %\register
	mov	%\register, %rax
	ret
end emul_to_\register
function try_to_\register
	push	%\register
	call	emul_to_\register
	pop	%\register
	ret
end try_to_\register
.endm
.irp register, rbx, rbp, r10, r11, r12, r13, r14, r15
	to \register
.endr

function emul_endbr
	endbr64
	mov	%rdi, %rax
	inc	%rax
	ret
end emul_endbr
	try endbr

/* Ends at a `ret` behind a call, not at its entry. */
function emul_calls
	endbr64
	call	*other(%rip)
	inc	%rax
	ret
end emul_calls
	try calls
function emul_other
	lea	(%rdi), %rax
	ret
end emul_other

/* Calls itself three times. */
function emul_itself
	mov	%rdi, %rax
	dec	%rdi
	test	$3, %dil
	mov	itself(%rip), %r10
	cmovz	other(%rip), %r10
	call	*%r10
	inc	%rax
	ret
end emul_itself
function try_itself
	push	%rdi
	mov	$4, %edi
	call	emul_itself
	pop	%rdi
	lea	-3(%rdi, %rax), %rax
	ret
end try_itself

function emul_xor
	xor	%eax, %eax
	setz	%al
	ret
end emul_xor
/* Takes all flags of the result, set to their opposites before: zero and parity are set, carry,
 * sign and overflow are not. */
function try_xor
	push	%rdi
	mov	$0x7f, %al
	add	$0x81, %al	/* carry */
	mov	$0x7f, %cl
	inc	%cl		/* overflow, sign; the carry stays */
	call	emul_xor
	pushf
	pop	%rcx
	pop	%rdi
	and	$0x8c5, %ecx
	xor	$0x44, %ecx
	add	%rdi, %rax
	add	%rcx, %rax
	ret
end try_xor

function emul_xor64
	xor	%r10, %r10
	lea	1(%rdi, %r10), %rax
	ret
end emul_xor64
function try_xor64
	mov	$-1, %r10
	call	emul_xor64
	ret
end try_xor64

/* Flags stay as they are: a carry is added. */
function emul_flags
	mov	%rdi, %rax
	adc	$0, %rax
	ret
end emul_flags
function try_flags
	stc
	call	emul_flags
	ret
end try_flags

/* Writes 32 bits, and zeros above them. */
function emul_narrow
	mov	%r10d, %eax
	ret
end emul_narrow
function try_narrow
	lea	1(%rdi), %r10
	mov	$0x5555555500000000, %rax
	or	%rax, %r10
	call	emul_narrow
	ret
end try_narrow

function emul_constant
	mov	$0x80000001, %eax
	ret
end emul_constant
function try_constant
	call	emul_constant
	mov	$0x80000000, %ecx
	sub	%rcx, %rax
	add	%rdi, %rax
	ret
end try_constant

function emul_negative
	mov	$-2, %rax
	ret
end emul_negative
function try_negative
	call	emul_negative
	lea	3(%rdi, %rax), %rax
	ret
end try_negative

function emul_constant64
	movabs	$0x123456789abcdef0, %rax
	ret
end emul_constant64
function try_constant64
	call	emul_constant64
	movabs	$0x123456789abcdeef, %rcx
	sub	%rcx, %rax
	add	%rdi, %rax
	ret
end try_constant64

function emul_signed
	movslq	%edi, %rax
	ret
end emul_signed
function try_signed
	push	%rdi
	neg	%edi
	call	emul_signed
	neg	%rax
	inc	%rax
	pop	%rdi
	ret
end try_signed

function emul_scaled
	lea	-0x1000(%rdi, %r10, 8), %rax
	ret
end emul_scaled
function try_scaled
	mov	$0x200, %r10d
	call	emul_scaled
	inc	%rax
	ret
end try_scaled

function emul_unbased
	lea	1(, %rdi, 2), %rax
	ret
end emul_unbased
function try_unbased
	call	emul_unbased
	sub	%rdi, %rax
	ret
end try_unbased

function emul_relative
	lea	try_relative(%rip), %rax
	ret
end emul_relative
function try_relative
	call	emul_relative
	lea	try_relative(%rip), %rcx
	sub	%rcx, %rax
	lea	1(%rdi, %rax), %rax
	ret
end try_relative

function emul_lea32
	lea	(%rdi, %r10), %eax
	ret
end emul_lea32
function try_lea32
	movabs	$0x700000001, %r10
	call	emul_lea32
	ret
end try_lea32

/* Begins at the last byte of a page. */
	.p2align 12
	.skip	4095, 0xcc
	.globl emul_across
	.type emul_across, @function
emul_across:
	mov	%rdi, %rax
	inc	%rax
	ret
end emul_across
	try across

/* Comes back to its entry: four more hits are no calls. */
function emul_loops
	lea	(%rdi), %rax
	loop	emul_loops
	inc	%rax
	ret
end emul_loops
function try_loops
	mov	$5, %ecx
	call	emul_loops
	ret
end try_loops

/* The kernel steps these: a register of arguments is written, memory read, the stack pointer
 * moved, 16 bits written. */
function emul_not_argument
	mov	%rdi, %rsi
	inc	%rsi
	xchg	%rsi, %rax
	ret
end emul_not_argument
	try not_argument
function emul_not_memory
	mov	one(%rip), %rax
	add	%rdi, %rax
	ret
end emul_not_memory
	try not_memory
function emul_not_stack
	sub	$24, %rsp
	mov	one(%rip), %rcx
	add	%rdi, %rcx
	mov	%rcx, (%rsp)
	mov	(%rsp), %rax
	add	$24, %rsp
	ret
end emul_not_stack
	try not_stack
function emul_not_narrow
	mov	%di, %ax
	movzwl	%ax, %eax
	inc	%eax
	ret
end emul_not_narrow
	try not_narrow

	.data
	.p2align 3
one:	.quad	1
other:	.quad	emul_other
itself:	.quad	emul_itself

	.section .note.GNU-stack, "", @progbits
