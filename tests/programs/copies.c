// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * copies [TIMES]: copies a function of its own and calls the copy, and adds up the bytes of another.
 * Where they are probed the copy dies of the breakpoint in it, and the sum is another one. Prints
 * what the calls have returned, the sum, and what it has counted.
 */
#include <err.h>
#include <sys/mman.h>
#include "target.h"

#define SIZE 32 /* bytes of both: more than they have */

static unsigned long plain_cnt;

/* Bears being moved: nothing in it is relative to where it is. */
TRACED unsigned long copied(unsigned long n)
{
	unsigned long sum = 0;

	while (n)
		sum += n--;
	return sum;
}

TRACED unsigned long summed(unsigned long n)
{
	unsigned long product = 1;

	while (n > 1)
		product *= n--;
	return product;
}

TRACED void plain(void)
{
	plain_cnt++;
	for (volatile int i = 0; i < 10; i++)
		;
}

int main(int argc, char **argv)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long sum = 0;

	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);

	if (code == MAP_FAILED)
		err(1, "mmap");
	memcpy(code, (void *)copied, SIZE);
	for (int i = 0; i < SIZE; i++)
		sum = sum * 31 + ((volatile unsigned char *)summed)[i];
	for (unsigned long i = 0; i < times; i++)
		plain();
	printf("%lu %lu %lu\n", ((unsigned long (*)(unsigned long))code)(10), summed(5), sum);
	target_count("plain", plain_cnt);
	return 0;
}
