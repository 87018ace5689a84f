// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * handed_out: `goes_out` is called once and leaves by a jump to other code, which jumps back to
 * behind its entry, where it leaves again, until a line on stdin says to stop. So does the code of
 * Haskell's functions, which hand out the address where they go on.
 */
#include <pthread.h>

#include "target.h"

int told_to_stop;

void goes_out(void);

__asm__(".text\n"
	".globl goes_out\n"
	".type goes_out, @function\n"
	"goes_out:\n"
	"	push	%rbx\n"
	"	pop	%rbx\n"
	"	lea	1f(%rip), %rax\n"
	"1:	jmp	2f\n"
	".size goes_out, . - goes_out\n"
	"2:	cmpl	$0, told_to_stop(%rip)\n"
	"	jne	3f\n"
	"	jmp	*%rax\n"
	"3:	ret\n");

static void *listen(void *arg)
{
	char line[64];

	target_read_line(line, sizeof(line));
	__atomic_store_n(&told_to_stop, 1, __ATOMIC_RELEASE);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t listener;

	target_begin(&argc, &argv);
	pthread_create(&listener, NULL, listen, NULL);
	goes_out();
	pthread_join(listener, NULL);
	target_count("goes_out", 1);
	return 0;
}
