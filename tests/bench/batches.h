/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by programs that time batches of something. */
#ifndef BATCHES_H
#define BATCHES_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Time of our own: what else runs on this machine is left out, what the kernel does for us is in.
 */
static double own_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* Waits for a line on stdin. Returns 0 if there is none. */
static int wait_line(void)
{
	char c = 0;

	while (c != '\n') {
		if (read(STDIN_FILENO, &c, 1) != 1)
			return 0;
	}
	return 1;
}

/*
 * Says "ready" and waits for a line on stdin; then has `batches` batches of `calls` calls made,
 * after a tenth of a batch to warm up, and prints "ns N" a call for each, then "calls N", the
 * number of all calls. Ends with stdin. `run` returns what a call of a batch has taken, in ns.
 */
__attribute__((unused)) static void time_batches(double (*run)(unsigned long calls),
						 const char *calls_text, const char *batches_text)
{
	unsigned long calls = strtoul(calls_text, NULL, 10);
	unsigned long batches = strtoul(batches_text, NULL, 10), warm_up = calls / 10;

	setlinebuf(stdout);
	printf("ready\n");
	if (!wait_line())
		return;
	run(warm_up);
	for (unsigned long i = 0; i < batches; i++)
		printf("ns %.2f\n", run(calls));
	printf("calls %lu\n", warm_up + calls * batches);
	while (wait_line())
		;
}

#endif
