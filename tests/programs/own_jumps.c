// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * own_jumps [TIMES]: functions of its own that save where they were called from, look at their
 * return address or take it off the stack, under names that tell nothing. None bears a return
 * probe. Prints what came of each, and what it has counted.
 */
#include <stdint.h>
#include "target.h"

struct spot {
	uint64_t rip, rsp, rbp, rbx, r12, r13, r14, r15;
	uint64_t spare[24];
};

/* Like setjmp and longjmp, in six instructions; the caller needs no other registers. */
uint64_t mark_small(struct spot *spot);
asm(".text\n.type mark_small, @function\nmark_small:\n"
    "mov (%rsp), %rdx; mov %rdx, (%rdi); lea 8(%rsp), %rdx; mov %rdx, 8(%rdi)\n"
    "xor %eax, %eax; ret\n.size mark_small, .-mark_small");

/* Like mark_small, in 42 instructions. */
uint64_t mark_large(struct spot *spot) __attribute__((returns_twice));
asm(".text\n.type mark_large, @function\nmark_large:\n"
    "mov %rbp, 16(%rdi); mov %rbx, 24(%rdi); mov %r12, 32(%rdi); mov %r13, 40(%rdi)\n"
    "mov %r14, 48(%rdi); mov %r15, 56(%rdi); stmxcsr 64(%rdi); fnstcw 72(%rdi)\n"
    ".set at, 80\n.rept 14\nmov %rdx, at(%rdi)\nadd $3, %rdx\n.set at, at + 8\n.endr\n"
    "mov (%rsp), %rdx; mov %rdx, (%rdi); lea 8(%rsp), %rdx; mov %rdx, 8(%rdi)\n"
    "xor %eax, %eax; ret\n.size mark_large, .-mark_large");

void go_small(struct spot *spot, uint64_t result) __attribute__((noreturn));
asm(".text\n.type go_small, @function\ngo_small:\n"
    "mov %rsi, %rax; mov 8(%rdi), %rsp; jmp *(%rdi)\n.size go_small, .-go_small");

void go_large(struct spot *spot, uint64_t result) __attribute__((noreturn));
asm(".text\n.type go_large, @function\ngo_large:\n"
    "mov %rsi, %rax; mov 16(%rdi), %rbp; mov 24(%rdi), %rbx; mov 32(%rdi), %r12\n"
    "mov 40(%rdi), %r13; mov 48(%rdi), %r14; mov 56(%rdi), %r15; mov 8(%rdi), %rsp\n"
    "push (%rdi); ret\n.size go_large, .-go_large");

/* Like getcontext. */
void note_state(struct spot *spot);
asm(".text\n.type note_state, @function\nnote_state:\n"
    "mov %rbx, 24(%rdi); mov %rbp, 16(%rdi); lea 8(%rsp), %rax; mov %rax, 8(%rdi)\n"
    "mov 0(%rsp), %rax; mov %rax, (%rdi); xor %eax, %eax; ret\n.size note_state, .-note_state");

/* The address that it was called from: popped, read behind a copy of the stack pointer, and by the
 * frame. */
uint64_t from_where(void);
asm(".text\n.type from_where, @function\nfrom_where:\n"
    "pop %rax; push %rax; ret\n.size from_where, .-from_where");
uint64_t from_there(void);
asm(".text\n.type from_there, @function\nfrom_there:\n"
    "push %rbx; mov %rsp, %rbx; lea -8(%rbx), %rcx; mov 16(%rcx), %rax; pop %rbx; ret\n"
    ".size from_there, .-from_there");
uint64_t from_frame(void);
asm(".text\n.type from_frame, @function\nfrom_frame:\n"
    "push %rbp; mov %rsp, %rbp; mov 8(%rbp), %rax; leave; ret\n.size from_frame, .-from_frame");
TRACED uint64_t from_compiler(void)
{
	return (uintptr_t)__builtin_return_address(0);
}

/* Returns without its return address on the stack. */
uint64_t come_back(uint64_t value);
asm(".text\n.type come_back, @function\ncome_back:\n"
    "pop %rdx; lea 1(%rdi), %rax; jmp *%rdx\n.size come_back, .-come_back");

/* Has something else run when it returns. */
uint64_t pass_through(uint64_t value);
asm(".text\n.type pass_through, @function\npass_through:\n"
    "mov (%rsp), %r11; lea 1f(%rip), %rax; mov %rax, (%rsp); lea 2(%rdi), %rax; ret\n"
    "1: jmp *%r11\n.size pass_through, .-pass_through");

/* Returns for its caller as well. */
uint64_t return_twice(uint64_t value);
asm(".text\n.type return_for_two, @function\nreturn_for_two:\n"
    "add $8, %rsp; lea 3(%rdi), %rax; ret\n.size return_for_two, .-return_for_two\n"
    ".type return_twice, @function\nreturn_twice:\n"
    "call return_for_two; xor %eax, %eax; ret\n.size return_twice, .-return_twice");

static unsigned long small_cnt, large_cnt, deeper_cnt, plain_cnt;

TRACED uint64_t plain(uint64_t value)
{
	plain_cnt++;
	return value * 3 + 1;
}

TRACED uint64_t deeper(struct spot *spot, int levels, void (*go)(struct spot *, uint64_t))
{
	deeper_cnt++;
	if (!levels)
		go(spot, plain(4));
	return deeper(spot, levels - 1, go) + 1;
}

TRACED uint64_t jump_small(void)
{
	static struct spot spot;
	uint64_t result;

	small_cnt++;
	asm volatile("call mark_small"
		     : "=a"(result)
		     : "D"(&spot)
		     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
		       "r15", "memory", "cc");
	if (!result)
		deeper(&spot, 5, go_small);
	return result;
}

TRACED uint64_t jump_large(void)
{
	static struct spot spot;
	uint64_t result;

	large_cnt++;
	result = mark_large(&spot);
	if (!result)
		deeper(&spot, 5, go_large);
	return result;
}

/* Whether an address is in the program's code: none of a trampoline is. */
static int is_ours(uint64_t rip)
{
	extern const char __executable_start[], etext[];

	return rip >= (uintptr_t)__executable_start && rip < (uintptr_t)etext;
}

TRACED unsigned look_around(void)
{
	struct spot spot;
	unsigned seen;

	note_state(&spot);
	seen = is_ours(spot.rip);
	seen |= is_ours(from_where()) << 1;
	seen |= is_ours(from_there()) << 2;
	seen |= is_ours(from_frame()) << 3;
	seen |= is_ours(from_compiler()) << 4;
	return seen;
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;
	unsigned seen = 31;

	target_begin(&argc, &argv);
	const unsigned long times = target_arg(argc, argv, 1, 100);
	for (unsigned long i = 0; i < times; i++) {
		sum += jump_small() + jump_large();
		sum += come_back(i) + pass_through(i) + return_twice(i);
		seen &= look_around();
	}
	printf("sum %lu seen %u\n", (unsigned long)sum, seen);
	target_count("jump_small", small_cnt);
	target_count("jump_large", large_cnt);
	target_count("deeper", deeper_cnt);
	target_count("plain", plain_cnt);
	return 4;
}
