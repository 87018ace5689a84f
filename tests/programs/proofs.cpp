// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * proofs [TIMES]: functions that no exception can pass are called in turn with others that it does.
 * proofs end: an exception reaches one that is noexcept, which is the end of the program.
 */
#include <stdexcept>
#include <string>
#include "target.h"

static unsigned long leaf_cnt, quiet_cnt, walk_cnt, throws_cnt, passes_cnt, stops_cnt, swallows_cnt,
	text_cnt, ends_cnt;
static bool the_end;

TRACED long leaf(long x)
{
	leaf_cnt++;
	return x * 3;
}

/* calls only what cannot unwind */
TRACED long quiet(long x)
{
	quiet_cnt++;
	return leaf(x) + leaf(x + 1);
}

TRACED long walk(long depth)
{
	walk_cnt++;
	return depth ? walk(depth - 1) + quiet(depth) : 0;
}

TRACED long throws(long x)
{
	throws_cnt++;
	if (x % 3 == 0)
		throw std::runtime_error("three");
	return quiet(x);
}

/* exceptions go on to the caller */
TRACED long passes(long x)
{
	passes_cnt++;
	std::string held(40, 'x');
	return throws(x) + held.size();
}

/* the handler ends them, and its calls are not listed */
TRACED long swallows(long x) noexcept
{
	swallows_cnt++;
	try {
		return passes(x);
	} catch (...) {
		return quiet(-x);
	}
}

/* no exception is thrown here, except in the end */
TRACED long stops(long x) noexcept
{
	stops_cnt++;
	return passes(the_end ? 3 : x * 3 + 1);
}

TRACED long text(const char *s)
{
	text_cnt++;
	return strlen(s) + leaf(*s);
}

TRACED long ends(long x)
{
	ends_cnt++;
	try {
		return stops(x) + passes(x);
	} catch (const std::exception &e) {
		return text(e.what());
	}
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	the_end = argc > 1 && !strcmp(argv[1], "end");
	unsigned long times = the_end ? 1 : target_arg(argc, argv, 1, 1000);
	long sum = 0;

	if (the_end)
		target_say("now");
	for (unsigned long i = 0; i < times; i++)
		sum += ends(i) + swallows(i) + walk(i % 20);
	printf("sum %ld\n", sum);
	target_count("leaf(long)", leaf_cnt);
	target_count("quiet(long)", quiet_cnt);
	target_count("walk(long)", walk_cnt);
	target_count("throws(long)", throws_cnt);
	target_count("passes(long)", passes_cnt);
	target_count("swallows(long)", swallows_cnt);
	target_count("stops(long)", stops_cnt);
	target_count("text(char const*)", text_cnt);
	target_count("ends(long)", ends_cnt);
	return 0;
}
