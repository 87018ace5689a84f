// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exec TIMES [ROUNDS]: calls `step` TIMES times, then becomes itself again, ROUNDS times in all.
 * exec TIMES -- CMD ARGS...: becomes CMD instead; with --thread for --, a second thread does it. The
 * exec is done with frames open.
 */
#include <pthread.h>
#include "target.h"

static unsigned long step_cnt, leave_cnt;

TRACED void step(void)
{
	step_cnt++;
}

TRACED void leave(char **argv)
{
	leave_cnt++;
	execv(argv[0], argv);
	perror(argv[0]);
	exit(1);
}

static void *leave_thread(void *argv)
{
	leave(argv);
	return NULL;
}

int main(int argc, char **argv)
{
	char *self = argv[0], times_text[24], rounds_text[24], steps_text[24], leaves_text[24];

	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);

	if (argc > 3 && (!strcmp(argv[2], "--") || !strcmp(argv[2], "--thread"))) {
		for (unsigned long i = 0; i < times; i++)
			step();
		target_count("step", step_cnt);
		target_count("leave", leave_cnt + 1);
		fflush(stdout);
		if (!strcmp(argv[2], "--thread")) {
			pthread_t thread;

			if (!pthread_create(&thread, NULL, leave_thread, argv + 3))
				pthread_join(thread, NULL);
		}
		leave(argv + 3);
	}

	/* Arguments 3 and 4 carry the counts over. */
	unsigned long rounds = target_arg(argc, argv, 2, 3);

	step_cnt = target_arg(argc, argv, 3, 0);
	leave_cnt = target_arg(argc, argv, 4, 0);
	for (unsigned long i = 0; i < times; i++)
		step();
	if (rounds > 1) {
		snprintf(times_text, sizeof(times_text), "%lu", times);
		snprintf(rounds_text, sizeof(rounds_text), "%lu", rounds - 1);
		snprintf(steps_text, sizeof(steps_text), "%lu", step_cnt);
		snprintf(leaves_text, sizeof(leaves_text), "%lu", leave_cnt + 1);
		leave((char *[]){self, times_text, rounds_text, steps_text, leaves_text, NULL});
	}
	target_count("step", step_cnt);
	target_count("leave", leave_cnt);
	return 0;
}
