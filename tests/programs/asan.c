// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * asan [TIMES]: built with AddressSanitizer, which takes a backtrace of each allocation and, at the
 * end, prints those of the one that was used after it was freed.
 */
#include "target.h"

static unsigned long outer_cnt, make_cnt, destroy_cnt, use_cnt;

TRACED char *make(size_t size)
{
	make_cnt++;
	return calloc(1, size);
}

TRACED void destroy(char *p)
{
	destroy_cnt++;
	free(p);
}

TRACED char use(volatile char *p)
{
	use_cnt++;
	return p[3];
}

TRACED void outer(unsigned long n)
{
	char *p = make(n + 4);

	outer_cnt++;
	use(p);
	destroy(p);
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 100);
	char *p = make(8);

	for (unsigned long i = 0; i < times; i++)
		outer(i);
	destroy(p);
	use_cnt++;
	target_count("outer", outer_cnt);
	target_count("make", make_cnt);
	target_count("destroy", destroy_cnt);
	target_count("use", use_cnt);
	fflush(stdout);
	use_cnt--;
	return use(p);
}
