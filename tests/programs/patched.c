// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * patched [ROUNDS]: has patched its own functions before it says "ready", as in-process tracers do:
 * a call of a hook over a nop at the entry (of one piece and of five), a jump over all of a short
 * function, a jump over the end of another. Each must go on reaching its hook. Works so many times,
 * and waits for a line between; `late` is called in the last round only.
 */
#include <err.h>
#include <stdint.h>
#include <sys/mman.h>

#include "target.h"

#define CALLS 1000

unsigned long hooked_cnt;
static unsigned long nops_cnt, nop5_cnt, untouched_cnt;

unsigned long nop5(unsigned long n), late(unsigned long n), short_one(unsigned long n), no_end(unsigned long n);
void hook(void), instead(void), end_hook(void);
extern char end_of_no_end[];

/* clang-format off */
#define BEGIN(name) ".globl " #name "\n.type " #name ", @function\n" #name ":\n"
#define END(name)   ".size " #name ", . - " #name "\n"
__asm__(".text\n"
	BEGIN(nop5) ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n push %rbx\n mov %rdi, %rbx\n"
		"call count_nop5\n lea 5(%rbx), %rax\n pop %rbx\n ret\n" END(nop5)
	BEGIN(late) ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n push %rdi\n pop %rax\n ret\n" END(late)
	BEGIN(short_one) "lea 2(%rdi), %rax\n ret\n" END(short_one)
		/* all that is patched is its own */
		".p2align 4\n"
	BEGIN(no_end) "push %rdi\n pop %rax\n"
		"end_of_no_end: ret\n nopw 512(%rax,%rax)\n" END(no_end)
	BEGIN(hook) "incq hooked_cnt(%rip)\n ret\n" END(hook)
	BEGIN(instead) "incq hooked_cnt(%rip)\n lea 2(%rdi), %rax\n ret\n" END(instead)
	BEGIN(end_hook) "incq hooked_cnt(%rip)\n ret\n" END(end_hook));
/* clang-format on */

__attribute__((used)) static void count_nop5(void)
{
	nop5_cnt++;
}

TRACED __attribute__((patchable_function_entry(5))) unsigned long nops(unsigned long n)
{
	nops_cnt++;
	return n + untouched_cnt % 2;
}

TRACED static unsigned long untouched(unsigned long n)
{
	untouched_cnt++;
	return nops(n) + nop5(n) + short_one(n) + no_end(n);
}

/* Writes a call or a jump to `to`. */
static void patch(void *at, uint8_t opcode, void (*to)(void))
{
	int32_t rel = (uintptr_t)to - ((uintptr_t)at + 5);

	memcpy(at, &opcode, sizeof(opcode));
	memcpy((char *)at + 1, &rel, sizeof(rel));
}

static void patch_all(void)
{
	char *begin = (char *)((uintptr_t)nop5 & -4096);
	size_t size = (((uintptr_t)nops + 4096) & -4096) - (uintptr_t)begin;

	if (mprotect(begin, size, PROT_READ | PROT_WRITE | PROT_EXEC))
		err(1, "mprotect");
	patch(nops, 0xe8, hook);
	patch(nop5, 0xe8, hook);
	patch(late, 0xe8, hook);
	patch(short_one, 0xe9, instead);
	patch(end_of_no_end, 0xe9, end_hook);
	if (mprotect(begin, size, PROT_READ | PROT_EXEC))
		err(1, "mprotect");
}

int main(int argc, char **argv)
{
	unsigned long rounds, sum = 0;
	char line[64];

	patch_all();
	target_begin(&argc, &argv);
	rounds = target_arg(argc, argv, 1, 1);
	for (unsigned long round = 1; round <= rounds; round++) {
		for (int i = 0; i < CALLS; i++)
			sum += untouched(i);
		for (int i = 0; i < CALLS && round == rounds; i++)
			sum += late(i);
		printf("round %lu\n", round);
		fflush(stdout);
		if (round < rounds)
			target_read_line(line, sizeof(line));
	}
	printf("sum %lu\nHOOKED hook %lu\n", sum, hooked_cnt);
	target_count("nops", nops_cnt);
	target_count("nop5", nop5_cnt);
	target_count("untouched", untouched_cnt);
	target_count("no_end", rounds * CALLS);
	return 0;
}
