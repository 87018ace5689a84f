// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calls FUNCTION CALLS BATCHES: what a call of FUNCTION costs. Says "ready" and waits for a line on
 * stdin; then makes BATCHES batches of CALLS calls, after a tenth of a batch to warm up, and prints
 * "ns N" a call for each, then "calls N", the number of all calls. Ends with its stdin.
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
	{"nop5_first", nop5_first}, {"lea_only", lea_only},
};

__attribute__((noipa)) void untraced(struct list *l)
{
	l->count++;
}

static double run_batch(long (*volatile function)(struct list *l), unsigned long calls)
{
	struct list second = {0}, first = {.next = &second};
	double start = own_ns();

	for (unsigned long i = 0; i < calls; i++)
		function(&first);
	return (own_ns() - start) / calls;
}

int main(int argc, char **argv)
{
	long (*function)(struct list * l) = NULL;
	unsigned long calls, batches, warm_up;

	for (size_t i = 0; argc == 4 && i < sizeof(functions) / sizeof(*functions); i++) {
		if (!strcmp(argv[1], functions[i].name))
			function = functions[i].function;
	}
	if (!function) {
		fprintf(stderr, "usage: calls FUNCTION CALLS BATCHES\n");
		return 2;
	}
	calls = strtoul(argv[2], NULL, 10);
	batches = strtoul(argv[3], NULL, 10);
	warm_up = calls / 10;
	setlinebuf(stdout);
	printf("ready\n");
	if (!wait_line())
		return 0;
	run_batch(function, warm_up);
	for (unsigned long i = 0; i < batches; i++)
		printf("ns %.2f\n", run_batch(function, calls));
	printf("calls %lu\n", warm_up + calls * batches);
	while (wait_line())
		;
	return 0;
}
