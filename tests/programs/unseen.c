// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unseen [TIMES]: `outer` calls `leaves`, whose end no probe sees, and then waits for 5 ms, no
 * deeper on its stack than it made that call. `leaves` moves its return address down the stack, as
 * V8's builtins do, and jumps to other code, which has no name.
 */
#include <sys/syscall.h>

#include "target.h"

static unsigned long outer_ns;

void leaves(void);

__asm__(".text\n"
	".globl leaves\n"
	".type leaves, @function\n"
	"leaves:\n"
	"	push	%rbx\n"
	"	pop	%rbx\n"
	"	push	(%rsp)\n"
	"	jmp	1f\n"
	".size leaves, . - leaves\n"
	"1:	ret	$8\n");

TRACED void outer(void)
{
	struct timespec time = {.tv_nsec = 5000000};
	unsigned long from = target_now_ns(), result;

	leaves();
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(SYS_nanosleep), "D"(&time), "S"(NULL)
			 : "rcx", "r11", "memory");
	outer_ns += target_now_ns() - from;
}

int main(int argc, char **argv)
{
	unsigned long times;

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 20);
	for (unsigned long i = 0; i < times; i++)
		outer();
	target_count("leaves", times);
	target_count("outer", times);
	target_count("outer_ns", outer_ns);
	return 0;
}
