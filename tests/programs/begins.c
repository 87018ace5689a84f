// SPDX-License-Identifier: GPL-2.0-or-later
/* begins [PROGRAMS]: begins /bin/true so often, and calls `work` while each of them runs. */
#include <sys/wait.h>
#include "target.h"

static unsigned long work_cnt, part_cnt;

TRACED void part(void)
{
	part_cnt++;
}

TRACED void work(void)
{
	work_cnt++;
	part();
	usleep(50);
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long programs = target_arg(argc, argv, 1, 1);
	int status, failed = 0;

	for (unsigned long i = 0; i < programs; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		while (!waitpid(pid, &status, WNOHANG))
			work();
		failed |= status;
	}
	target_count("work", work_cnt);
	target_count("part", part_cnt);
	return !!failed;
}
