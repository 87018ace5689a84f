// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * early [TIMES]: calls functions of early.S with numbers from 0 on, and something else after each.
 */
#include "target.h"

#define DEPTH 5 /* of the one that calls itself */

long early_branch(long n), early_way_on(long n), early_frame(long n), early_shared(long n),
	early_recurse(long n), early_guard(long n);

static unsigned long odd_cnt, more_cnt, after_cnt;

TRACED long early_odd(long n)
{
	odd_cnt++;
	return n & 1;
}

TRACED long early_more(long n)
{
	more_cnt++;
	return n;
}

TRACED void early_after(void)
{
	after_cnt++;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		long (*function)(long n);
	} functions[] = {
		{"early_branch", early_branch}, {"early_way_on", early_way_on},
		{"early_frame", early_frame},	{"early_shared", early_shared},
		{"early_guard", early_guard},
	};

	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);

	for (unsigned long i = 0; i < times; i++) {
		for (size_t k = 0; k < sizeof(functions) / sizeof(*functions); k++) {
			functions[k].function(i);
			early_after();
		}
		early_recurse(DEPTH);
		early_after();
	}
	for (size_t k = 0; k < sizeof(functions) / sizeof(*functions); k++)
		target_count(functions[k].name, times);
	target_count("early_recurse", times * (DEPTH + 1));
	target_count("early_odd", odd_cnt);
	target_count("early_more", more_cnt);
	target_count("early_after", after_cnt);
	return 0;
}
