// SPDX-License-Identifier: GPL-2.0-or-later
/* Regions that exceptions leave: their destructors end them. Argument: rounds. */
#include "target.h"

#include <stdexcept>

#include "proftrace.h"

static unsigned long thrown_cnt, around_cnt, caught_cnt;

template <typename T> TRACED void fail(T value)
{
	PROFTRACE_REGION("thrown");
	thrown_cnt++;
	if (value > 0)
		fail(value - 1);
	throw std::runtime_error("on purpose");
}

TRACED void around()
{
	PROFTRACE_REGION("around");
	around_cnt++;
	try {
		fail(2);
	} catch (const std::exception &) {
		PROFTRACE_REGION("caught");
		caught_cnt++;
	}
	try {
		fail(1L);
	} catch (...) {
	}
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	for (unsigned long i = target_arg(argc, argv, 1, 10); i > 0; i--)
		around();
	target_count("thrown", thrown_cnt);
	target_count("around", around_cnt);
	target_count("caught", caught_cnt);
	printf("UNWOUND in all 0\n");
	return 0;
}
