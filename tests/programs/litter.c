// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * litter: forks a child every 20 ms, at most 200, until it is told to go on. Then each child calls
 * `work` once, while `child` is open, and they end. COUNT has the calls of all, CHILDREN how many
 * there were.
 */
#include <poll.h>
#include <sys/wait.h>
#include "target.h"

#define MOST 200

static volatile int kept;

TRACED void work(void)
{
	kept = 1;
}

TRACED void child(int go)
{
	char byte;

	if (read(go, &byte, 1) < 0)
		_exit(1);
	work();
	kept = 2;
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned long children = 0;
	char line[64];
	int go[2];

	target_begin(&argc, &argv);
	if (pipe(go))
		return 1;
	while (children < MOST && !poll(&input, 1, 20)) {
		pid_t pid = fork();

		if (!pid) {
			close(go[1]);
			child(go[0]);
			_exit(0);
		}
		children += pid > 0;
	}
	target_read_line(line, sizeof(line));
	close(go[1]);
	while (wait(NULL) > 0)
		;
	target_count("work", children);
	return 0;
}
