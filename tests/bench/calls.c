// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calls FUNCTION CALLS BATCHES: what a call of FUNCTION costs, as time_batches() says it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batches.h"
#include "calls.h"

static const struct {
	const char *name;
	long (*function)(struct list *l);
} functions[] = {
	{"push_first", push_first}, {"endbr64_first", endbr64_first}, {"mov_first", mov_first},
	{"nop5_first", nop5_first}, {"lea_only", lea_only},	      {"push_leaf", push_leaf},
};

__attribute__((noipa)) void untraced(struct list *l)
{
	l->count++;
}

static long (*volatile function)(struct list *l);

static double run_batch(unsigned long calls)
{
	struct list second = {0}, first = {.next = &second};
	double start = own_ns();

	for (unsigned long i = 0; i < calls; i++)
		function(&first);
	return (own_ns() - start) / calls;
}

int main(int argc, char **argv)
{

	for (size_t i = 0; argc == 4 && i < sizeof(functions) / sizeof(*functions); i++) {
		if (!strcmp(argv[1], functions[i].name))
			function = functions[i].function;
	}
	if (!function) {
		fprintf(stderr, "usage: calls FUNCTION CALLS BATCHES\n");
		return 2;
	}
	time_batches(run_batch, argv[2], argv[3]);
	return 0;
}
