// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * steps: does what it is told by lines on stdin, and answers each with "done": "N" calls
 * outer -> inner N times, "hold" stays inside both calls until the next line. Ends with stdin.
 */
#include "target.h"

static unsigned long outer_cnt, inner_cnt;

TRACED void inner(int hold)
{
	char line[64];

	inner_cnt++;
	if (!hold)
		return;
	target_say("done");
	target_read_line(line, sizeof(line));
}

TRACED void outer(int hold)
{
	outer_cnt++;
	inner(hold);
}

int main(int argc, char **argv)
{
	char line[64];

	target_begin(&argc, &argv);
	while (target_read_line(line, sizeof(line))) {
		if (!strcmp(line, "hold"))
			outer(1);
		for (long i = strtol(line, NULL, 0); i > 0; i--)
			outer(0);
		target_say("done");
	}
	target_count("outer", outer_cnt);
	target_count("inner", inner_cnt);
	return 0;
}
