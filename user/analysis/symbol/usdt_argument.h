/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a static probe's values lie, as its note says: "-4@%edi 8@-16(%rbp) 8@$5", operands as an
 * assembler writes them, each behind its size in bytes (negative: signed) and an @.
 */
#ifndef PROFTRACE_SYMBOL_USDT_ARGUMENT_H
#define PROFTRACE_SYMBOL_USDT_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum usdt_place {
	USDT_NOWHERE,
	USDT_CONSTANT, /* it is `offset` */
	USDT_REGISTER, /* `base`, shifted down by `shift` bits */
	USDT_MEMORY,   /* at base + (index << shift) + offset */
};

/* Registers are numbered as instructions number them: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8.
 */
#define USDT_NO_REGISTER    16
#define USDT_THREAD_POINTER 17 /* of no probe's value, but of thread-local variables */

struct usdt_argument {
	int64_t offset;
	uint8_t place; /* enum usdt_place */
	uint8_t bytes; /* 1, 2, 4 or 8 */
	uint8_t base, index, shift;
	bool is_signed;
};

/* Reads what the text says of value `number`, from 1 on. Returns NULL, or why it cannot be read. */
const char *usdt_argument__parse(const char *text, size_t number, struct usdt_argument *out);

#endif
