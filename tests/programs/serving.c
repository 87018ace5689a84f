// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * serving: a thread that works without a pause, until the input ends: `request` calls `parse`
 * (which calls `word` twice), `word` three times and `answer`. For each line meanwhile main calls
 * `rare` as often as it says, and answers "done".
 *
 * serving reads: the thread writes a byte to a pipe and reads it before each request, and every
 * other 5,000 requests take three times as long.
 *
 * serving reads long: `request` parses a hundred times, then answers a hundred times.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "target.h"

static unsigned long requests, rare_cnt;
static int stop, slower = 1, times = 1;

static void work(int rounds)
{
	for (volatile int i = 0; i < rounds * slower; i++)
		;
}

TRACED void word(void)
{
	work(500);
}

TRACED void parse(void)
{
	work(200);
	word();
	work(200);
	word();
	work(200);
}

TRACED void answer(void)
{
	work(3000);
}

TRACED void request(void)
{
	work(1000);
	for (int i = 0; i < times; i++)
		parse();
	work(1000);
	for (int i = 0; i < 3; i++)
		word();
	for (int i = 0; i < times; i++)
		answer();
	requests++;
}

TRACED void rare(void)
{
	rare_cnt++;
	target_say("rare");
}

static void *serve(void *arg)
{
	const int *ends = arg;
	char byte = 'x';

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (ends && (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1))
			return NULL;
		slower = ends && requests / 5000 % 2 ? 3 : 1;
		request();
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[64];
	int ends[2];

	target_begin(&argc, &argv);
	times = argc > 2 && !strcmp(argv[2], "long") ? 100 : 1;
	pthread_create(&thread, NULL, serve, argc > 1 && !pipe(ends) ? ends : NULL);
	while (target_read_line(line, sizeof(line))) {
		for (unsigned long cnt = strtoul(line, NULL, 10); cnt; cnt--)
			rare();
		target_say("done");
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	target_count("request", requests);
	target_count("parse", times * requests);
	target_count("word", (2 * times + 3) * requests);
	target_count("answer", times * requests);
	target_count("rare", rare_cnt);
	return 0;
}
