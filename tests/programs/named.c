// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scopes and stretches named by proftrace.h, left in all ways: C99 for both compilers, and C++11.
 * Counts them itself and prints "COUNT name N", what it gives as values "VALUES name a b..". The
 * test compiles it in many ways; with PARTS, a second file has the same inline function.
 */
#include <stdio.h>
#include <stdlib.h>

#include "proftrace.h"

#define TIMES	     7
#define STRETCH_NAME "by a macro"

int other_part(int times);

static inline int shared_between_files(int x)
{
	PROFTRACE_REGION("inline");
	return x + 1;
}

#ifdef PARTS
int other_part(int times)
{
	int sum = 0;

	for (int i = 0; i < times; i++)
		sum = shared_between_files(sum);
	return sum;
}
#else

static unsigned long whole, returned, looped, jumped, nested, stretches, quoted, utf8, marks,
	valued, twice, leaves;

/* Never called: a linker that drops it shall drop its notes. */
int never_called(int x);
int never_called(int x)
{
	PROFTRACE_REGION("never called");
	return shared_between_files(x) * 2;
}

/* A leaf without a stack frame of its own. */
static __attribute__((noinline)) int leaf(int x)
{
	volatile int in_red_zone[8];

	for (int i = 0; i < 8; i++)
		in_red_zone[i] = x + i;
	PROFTRACE_MARK("in a leaf");
	leaves++;
	for (int i = 0; i < 8; i++)
		if (in_red_zone[i] != x + i)
			abort();
	return in_red_zone[x & 7];
}

static __attribute__((noinline)) int returns_early(int x)
{
	PROFTRACE_REGION("returns");

	returned++;
	if (x % 3 == 0)
		return leaf(x);
	{
		PROFTRACE_REGION("nested");
		nested++;
		if (x % 3 == 1)
			return leaf(x + 1);
	}
	return 0;
}

static __attribute__((noinline)) int loops(int times)
{
	int sum = 0;

	for (int i = 0; i < times; i++) {
		PROFTRACE_REGION("loop");

		looped++;
		if (i == 2)
			continue;
		if (i == 5)
			break;
		sum += leaf(i);
	}
	return sum;
}

static __attribute__((noinline)) int jumps(int x)
{
again : {
	PROFTRACE_REGION("jump");

	jumped++;
	if (x-- > 2)
		goto again;
	if (x == 1)
		goto out;
	leaf(x);
}
	return 1;
out:
	return 2;
}

static __attribute__((noinline)) long stretch(long x, const char *text)
{
	char local[16];

	PROFTRACE_BEGIN(STRETCH_NAME);
	stretches++;
	leaf((int)x);
	PROFTRACE_END(STRETCH_NAME);

	snprintf(local, sizeof(local), "n%ld", x);
	PROFTRACE_MARK_VALUES("values of six", x, -x, text, local, (unsigned char)x, &local[1]);
	printf("VALUES six %ld %ld %s %s %d %s\n", x, -x, text, local, (unsigned char)x, &local[1]);
	valued++;
	{
		PROFTRACE_REGION_VALUES("values of two", x * 2, text);
		PROFTRACE_REGION("with \"quotes\"");
		PROFTRACE_REGION("g\xc3\xbc\x6e");
		printf("VALUES two %ld %s\n", x * 2, text);
		quoted++;
		utf8++;
	}
	PROFTRACE_BEGIN_VALUES("values of one", x);
	PROFTRACE_END("values of one");
	return x;
}

static __attribute__((noinline)) void two_on_a_line(void)
{
	PROFTRACE_REGION("first");
	PROFTRACE_REGION("second");
	twice++;
}

static void say(const char *name, unsigned long cnt)
{
	printf("COUNT %s %lu\n", name, cnt);
}

int main(int argc, char **argv)
{
	PROFTRACE_REGION("all of it");
	const char *text = argc > 1 ? argv[1] : "text";
	unsigned long inlined = 0;

	whole++;
	for (int i = 0; i < TIMES; i++) {
		returns_early(i);
		loops(i);
		jumps(i);
		stretch(i, text);
		two_on_a_line();
		inlined += other_part(i);
		if (i & 1)
			inlined = shared_between_files((int)inlined);
		PROFTRACE_MARK("turn");
		marks++;
	}
	say("all of it", whole);
	say("returns", returned);
	say("nested", nested);
	say("loop", looped);
	say("jump", jumped);
	say("in a leaf", leaves);
	say(STRETCH_NAME, stretches);
	say("values of six", valued);
	say("values of two", valued);
	say("values of one", valued);
	say("with \"quotes\"", quoted);
	say("g\xc3\xbc\x6e", utf8);
	say("first", twice);
	say("second", twice);
	say("inline", inlined);
	say("turn", marks);
	return 0;
}
#endif
