// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls imports that are bound at their first call, from frames of several kinds: the library's
 * functions for that call `called`, here. Prints "PATH function>...>called N" as callers.c does;
 * what is of the dynamic linker between is left out.
 */
#include <alloca.h>

#include "target.h"

int first(int n), second(int n), third(int n);

static unsigned long calls;

TRACED int called(int n)
{
	calls++;
	return n;
}

/* A frame whose stack pointer is known by the frame pointer alone. */
TRACED int variable(int n)
{
	volatile char *room = alloca(n);

	room[0] = first(n);
	return room[0];
}

TRACED int inner(int n)
{
	return second(n) + 1;
}

TRACED int outer(int n)
{
	return inner(n) + 1;
}

/* By a tail call: what is bound returns to the caller of this one. */
TRACED int tail(int n)
{
	return third(n);
}

int main(int argc, char **argv)
{
	int n;

	target_begin(&argc, &argv);
	n = variable(100) + outer(2) + tail(1);
	printf("PATH main>variable>called 1\n");
	printf("PATH main>outer>inner>called 1\n");
	printf("PATH main>called 1\n");
	target_count("called", calls);
	return n < 0;
}
