// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * heated [CHILDREN]: forks children, one "CHILD pid" line each, that call `hot` until the parent is
 * told to go on; then it says "cool", and they live until it ends. At its end it calls `hot` ten
 * times itself. COUNT has the calls of all.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include "target.h"

static struct {
	unsigned long hot, cool;
	int end;
} * all; /* of all processes */

TRACED void hot(unsigned long *calls)
{
	++*calls;
	for (volatile int i = 0; i < 300; i++)
		;
}

static void be_hot(int until)
{
	unsigned long calls = 0;
	char byte;

	while (!__atomic_load_n(&all->end, __ATOMIC_SEQ_CST))
		hot(&calls);
	__atomic_fetch_add(&all->hot, calls, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&all->cool, 1, __ATOMIC_SEQ_CST);
	_exit(read(until, &byte, 1) != 0);
}

int main(int argc, char **argv)
{
	char line[64];
	int ends[2];

	target_begin(&argc, &argv);
	unsigned long children = target_arg(argc, argv, 1, 2);

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED || pipe(ends))
		return 1;
	for (unsigned long i = 0; i < children; i++) {
		pid_t pid = fork();

		if (!pid) {
			close(ends[1]);
			be_hot(ends[0]);
		}
		printf("CHILD %d\n", (int)pid);
	}
	target_say("hot");
	target_read_line(line, sizeof(line));
	__atomic_store_n(&all->end, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&all->cool, __ATOMIC_SEQ_CST) < children)
		usleep(1000);
	target_say("cool");
	target_read_line(line, sizeof(line));
	close(ends[1]);
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < 10; i++)
		hot(&all->hot);
	target_count("hot", all->hot);
	return 0;
}
