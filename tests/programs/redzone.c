// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * redzone [TIMES]: leaf functions that keep their values below the stack pointer, where a call
 * would write. Newer kernels make a call of a nop of five bytes: `at_entry` begins with one,
 * `inside` has one while its values are there. Built plainly, with five nops at each entry, and
 * with such a nop.
 */
#include "target.h"

unsigned long at_entry_cnt, inside_cnt;
static unsigned long leaf_cnt, mixed_cnt, outer_cnt;

unsigned long at_entry(unsigned long n), inside(unsigned long n);

/* clang-format off */
#define NOP5	    ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#define BEGIN(name) ".globl " #name "\n.type " #name ", @function\n" #name ":\n"
#define STORE	    "mov %rdi, -8(%rsp)\nmov %rdi, -64(%rsp)\nmov %rdi, -128(%rsp)\n"
#define SUM	    "mov -8(%rsp), %rax\nadd -64(%rsp), %rax\nadd -128(%rsp), %rax\n"
#define END(name)   "incq " #name "_cnt(%rip)\nret\n.size " #name ", . - " #name "\n"
__asm__(".text\n"
	BEGIN(at_entry) NOP5 STORE SUM END(at_entry)
	BEGIN(inside) STORE NOP5 SUM END(inside));
/* clang-format on */

TRACED unsigned long leaf(unsigned long n)
{
	volatile unsigned long values[12];

	leaf_cnt++;
	for (int i = 0; i < 12; i++)
		values[i] = n + i;
	for (int i = 1; i < 12; i++)
		values[i] += values[i - 1];
	return values[11];
}

/* A jump back near the entry, and two ways out. */
TRACED unsigned long mixed(unsigned long n)
{
	volatile unsigned long kept = n;

	mixed_cnt++;
	do {
		if (kept % 7 == 3)
			return kept;
		kept = kept + 1;
	} while (kept < n + 5);
	return kept * 2;
}

TRACED unsigned long outer(unsigned long n)
{
	outer_cnt++;
	return leaf(n) + mixed(n) + at_entry(n) + inside(n);
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 1000);
	unsigned long sum = 0;

	for (unsigned long i = 0; i < times; i++)
		sum += outer(i);
	printf("sum %lu\n", sum);
	target_count("leaf", leaf_cnt);
	target_count("mixed", mixed_cnt);
	target_count("outer", outer_cnt);
	target_count("at_entry", at_entry_cnt);
	target_count("inside", inside_cnt);
	return 0;
}
