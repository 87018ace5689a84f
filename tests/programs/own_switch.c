// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * own_switch [TIMES]: yields in the midst of nested calls, by a switch of stacks of its own. Prints
 * what it has counted. Stripped, nothing tells of the switch but its code. WAY says how that gives
 * the stack pointer its new value, in code without unwind tables.
 */
#include <stdint.h>
#include "target.h"

#define STACK_SIZE (64 * 1024)

struct side {
	void *stack_pointer;
};

#if WAY == 1
#define BEGIN
#define LOAD "mov (%rsi), %rax; sub %rsp, %rax; add %rax, %rsp\n"
#define END
#elif WAY == 2
#define BEGIN
#define LOAD "mov (%rsi), %rbp; mov %rbp, %rsp\n"
#define END
#elif WAY == 3
#define BEGIN
#define LOAD "mov (%rsi), %rax; lea (%rax), %rsp\n"
#define END
#elif WAY == 4
#define BEGIN
#define LOAD "push (%rsi); pop %rsp\n"
#define END
#else
#define BEGIN ".cfi_startproc\n"
#define LOAD  "mov (%rsi), %rsp\n"
#define END   ".cfi_endproc\n"
#endif

/* Saves what a callee must, and goes on where `to` was left. */
void switch_to(struct side *from, struct side *to);
asm(".text\n.type switch_to, @function\nswitch_to:\n" BEGIN
    "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
    "mov %rsp, (%rdi)\n" LOAD "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
    "ret\n" END ".size switch_to, .-switch_to");

static struct side here, there;
static unsigned long outer_cnt, inner_cnt, leaf_cnt;

TRACED void leaf(void)
{
	leaf_cnt++;
}

TRACED void inner(void)
{
	inner_cnt++;
	leaf();
	switch_to(&there, &here);
	leaf();
}

TRACED void outer(void)
{
	outer_cnt++;
	inner();
}

static void live(void)
{
	for (;;)
		outer();
}

TRACED void visit(void)
{
	switch_to(&here, &there);
	leaf();
}

int main(int argc, char **argv)
{
	/* Above the frames of what is called from here. */
	uint64_t stack[STACK_SIZE / 8] __attribute__((aligned(16)));
	uint64_t *top = stack + STACK_SIZE / 8 - 3;

	target_begin(&argc, &argv);
	const unsigned long times = target_arg(argc, argv, 1, 100);
	*--top = (uintptr_t)live;
	there.stack_pointer = top - 6;
	for (unsigned long i = 0; i < times; i++)
		visit();
	printf("COUNT outer %lu\nCOUNT inner %lu\nCOUNT leaf %lu\n", outer_cnt, inner_cnt,
	       leaf_cnt);
	return 3;
}
