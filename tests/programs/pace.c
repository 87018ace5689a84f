// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pace [MS [TIMES [RARE]]]: `even` and `uneven` are called TIMES times each, and `even` also by
 * `uneven`. Each call of `uneven` uses MS milliseconds of CPU time itself, those of `even` a few
 * microseconds. `rare` is called RARE times; with 0, `other` is called once instead. The last line,
 * as "BEYOND us 400", says how much more CPU time than MS * TIMES all of this took: more than a few
 * milliseconds if the machine itself was stopped meanwhile.
 */
#include "target.h"

static unsigned long even_cnt, uneven_cnt;

TRACED void even(void)
{
	even_cnt++;
	for (volatile int i = 0; i < 10000; i++)
		;
}

TRACED void uneven(unsigned long ns)
{
	unsigned long start = target_cpu_ns();

	uneven_cnt++;
	while (target_cpu_ns() - start < ns)
		;
	even();
}

TRACED void rare(void)
{
	even();
}

TRACED void other(void)
{
	even();
}

TRACED void run(unsigned long ns, unsigned long times, unsigned long rarely)
{
	for (unsigned long i = 0; i < times; i++) {
		even();
		uneven(ns);
	}
	for (unsigned long i = 0; i < rarely; i++)
		rare();
	if (!rarely)
		other();
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long ns = target_arg(argc, argv, 1, 0) * 1000000;
	unsigned long times = target_arg(argc, argv, 2, 20);
	unsigned long rarely = target_arg(argc, argv, 3, 1);

	unsigned long start = target_cpu_ns();

	run(ns, times, rarely);

	unsigned long beyond_us = (target_cpu_ns() - start - ns * times) / 1000;

	target_count("even", even_cnt);
	target_count("uneven", uneven_cnt);
	target_count("rare", rarely);
	target_count("other", !rarely);
	target_count("run", 1);
	printf("BEYOND us %lu\n", beyond_us);
	return 0;
}
