/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs that time batches of something have in common. */
#ifndef BATCHES_H
#define BATCHES_H

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

#endif
