/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process of 32 bits that waits until it is killed. */
	.globl _start
_start:
	mov $29, %eax /* pause() */
	int $0x80
	jmp _start
	.section .note.GNU-stack, "", @progbits
