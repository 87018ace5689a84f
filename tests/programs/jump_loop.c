// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jump_loop TIMES: built with sibling calls. It is within `serve` when tracing begins, which then
 * calls `handle` so many times, and that leaves by a jump to `reply`.
 */
#include "target.h"

static unsigned long handle_cnt, reply_cnt;

TRACED unsigned long reply(unsigned long n)
{
	reply_cnt++;
	return n + 1;
}

TRACED unsigned long handle(unsigned long n)
{
	handle_cnt++;
	return reply(n + 1);
}

TRACED unsigned long serve(int argc, char **argv)
{
	unsigned long times = strtoul(argv[argc - 1], NULL, 0), sum = 0;

	target_begin(&argc, &argv);
	for (unsigned long i = 0; i < times; i++)
		sum += handle(i);
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long sum = serve(argc, argv);

	target_count("handle", handle_cnt);
	target_count("reply", reply_cnt);
	return !sum;
}
