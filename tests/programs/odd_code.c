// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * odd_code [TIMES]: functions as people write them in assembly, and compilers do not. Prints what
 * came of each, and what it has counted.
 */
#include <stdint.h>
#include "target.h"

/* Reads the flags, and sets them again: not those that the kernel single-steps with. */
uint64_t flags_get(void);
asm(".text\n.type flags_get, @function\nflags_get:\n"
    "pushfq; pop %rax; cld; ret\n.size flags_get, .-flags_get");
void flags_set(uint64_t flags);
asm(".text\n.type flags_set, @function\nflags_set:\n"
    "mov %rdi, %rax; push %rax; popfq; ret\n.size flags_set, .-flags_set");

/* Text stands behind the call, and reads as code with returns in it: who is called goes on behind
 * it. Both leave their bytes' sum. */
uint64_t text_popped(void), text_read(void);
asm(".text\n.type sum_popped, @function\nsum_popped:\n"
    "pop %rdi; xor %eax, %eax\n"
    "1: movzbl (%rdi), %edx; lea (%rax,%rax,2), %rax; add %rdx, %rax; inc %rdi\n"
    "test %edx, %edx; jne 1b; jmp *%rdi\n.size sum_popped, .-sum_popped\n"
    ".type text_popped, @function\ntext_popped:\n"
    "sub $8, %rsp; call sum_popped; .byte 0x63, 0x61, 0xc3, 0xa9, 0x20, 0x90, 0xc3, 0x41, 0xc3, 0\n"
    "add $8, %rsp; ret\n.size text_popped, .-text_popped\n"
    ".type sum_read, @function\nsum_read:\n"
    "mov (%rsp), %rdi; xor %eax, %eax\n"
    "1: movzbl (%rdi), %edx; lea (%rax,%rax,2), %rax; add %rdx, %rax; inc %rdi\n"
    "test %edx, %edx; jne 1b; mov %rdi, (%rsp); ret\n.size sum_read, .-sum_read\n"
    ".type text_read, @function\ntext_read:\n"
    "sub $8, %rsp; call sum_read; .byte 0x63, 0x61, 0xc3, 0xa9, 0x20, 0x90, 0xc3, 0x41, 0xc3, 0\n"
    "add $8, %rsp; ret\n.size text_read, .-text_read");

/* The second half is jumped to, with something of the first one's on the stack, and jumps back:
 * what it finds there is no return address. */
uint64_t half_work(uint64_t value);
asm(".text\n.type half_work, @function\nhalf_work:\n"
    "push %rbx; mov %rdi, %rbx; lea 3(%rdi), %rdi; jmp other_half\n"
    "half_end: add %rbx, %rax; pop %rbx; ret\n.size half_work, .-half_work\n"
    ".type other_half, @function\nother_half:\n"
    "imul $3, %rdi, %rax; 1: add $1, %rax; test $1, %al; jz 1b; jmp half_end\n"
    ".size other_half, .-other_half");

/* Saves where it was called from, for its callers too, which jump to it. */
uint64_t where_from(uint64_t *where), where_alias(uint64_t *where), where_alias2(uint64_t *where);
asm(".text\n.type where_from, @function\nwhere_from:\n"
    "mov (%rsp), %rax; mov %rax, (%rdi); xor %eax, %eax; ret\n.size where_from, .-where_from\n"
    ".type where_alias, @function\nwhere_alias:\n"
    "xor %esi, %esi; 1: dec %esi; jns 1b; jmp where_from\n.size where_alias, .-where_alias\n"
    ".type where_alias2, @function\nwhere_alias2:\n"
    "mov $2, %esi; 1: dec %esi; jns 1b; jmp where_alias\n.size where_alias2, .-where_alias2");

static unsigned long plain_cnt, halves_cnt;

TRACED uint64_t plain(uint64_t value)
{
	plain_cnt++;
	return value * 3 + 1;
}

TRACED uint64_t halves(uint64_t value)
{
	halves_cnt++;
	return half_work(value) * 2 + half_work(plain(value));
}

/* Whether an address is in the program's code: none of a trampoline is. */
static int is_ours(uint64_t rip)
{
	extern const char __executable_start[], etext[];

	return rip >= (uintptr_t)__executable_start && rip < (uintptr_t)etext;
}

int main(int argc, char **argv)
{
	uint64_t sum = 0, flags = 0, seen = 7;

	target_begin(&argc, &argv);
	const unsigned long times = target_arg(argc, argv, 1, 100);
	for (unsigned long i = 0; i < times; i++) {
		uint64_t now = flags_get(), from[3];

		flags |= now & 0x100;
		flags_set(now);
		sum += text_popped() * 5 + text_read() * 7 + halves(i);
		where_from(&from[0]);
		where_alias(&from[1]);
		where_alias2(&from[2]);
		for (int k = 0; k < 3; k++)
			seen &= ~((uint64_t)!is_ours(from[k]) << k);
	}
	printf("sum %lu single-step flag %lu seen %lu\n", (unsigned long)sum, (unsigned long)flags,
	       (unsigned long)seen);
	target_count("plain", plain_cnt);
	target_count("halves", halves_cnt);
	return 5;
}
