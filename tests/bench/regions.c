// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * regions WHAT CALLS BATCHES: what a region costs, and what a function that does the same work
 * does: WHAT is "region" or "function". Speaks as time_batches() does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batches.h"
#include "proftrace.h"

static volatile long done;

__attribute__((noipa)) void work(void)
{
	done++;
}

/* Begins with a push (-fno-omit-frame-pointer), as most functions do. */
__attribute__((noipa)) void in_function(void)
{
	work();
	work();
}

__attribute__((noipa)) void in_region(void)
{
	PROFTRACE_BEGIN("work");
	work();
	work();
	PROFTRACE_END("work");
}

static void (*volatile function)(void);

static double run_batch(unsigned long calls)
{
	double start = own_ns();

	for (unsigned long i = 0; i < calls; i++)
		function();
	return (own_ns() - start) / calls;
}

int main(int argc, char **argv)
{

	if (argc != 4 || (strcmp(argv[1], "region") && strcmp(argv[1], "function"))) {
		fprintf(stderr, "usage: regions region|function CALLS BATCHES\n");
		return 2;
	}
	function = strcmp(argv[1], "region") ? in_function : in_region;
	time_batches(run_batch, argv[2], argv[3]);
	return 0;
}
