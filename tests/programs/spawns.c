// SPDX-License-Identifier: GPL-2.0-or-later
/* spawns [TIMES]: starts /bin/true by vfork, by posix_spawn and by system(), in nested calls. */
#include <spawn.h>
#include <sys/wait.h>
#include "target.h"

static unsigned long outer_cnt, by_vfork_cnt, by_spawn_cnt, by_system_cnt, leaf_cnt;
static char *const command[] = {"/bin/true", NULL};

TRACED void leaf(void)
{
	leaf_cnt++;
}

static int ended(pid_t pid)
{
	int status = -1;

	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

TRACED int by_vfork(void)
{
	pid_t pid;

	by_vfork_cnt++;
	pid = vfork();
	if (!pid) {
		execv(command[0], command);
		_exit(1);
	}
	leaf();
	return ended(pid);
}

TRACED int by_spawn(void)
{
	pid_t pid = -1;

	by_spawn_cnt++;
	posix_spawn(&pid, command[0], NULL, NULL, command, NULL);
	leaf();
	return ended(pid);
}

TRACED int by_system(void)
{
	by_system_cnt++;
	leaf();
	return !system("exec /bin/true");
}

TRACED int outer(void)
{
	outer_cnt++;
	return by_vfork() + by_spawn() + by_system();
}

int main(int argc, char **argv)
{
	unsigned long well = 0;

	target_begin(&argc, &argv);
	for (unsigned long i = 0; i < target_arg(argc, argv, 1, 5); i++)
		well += outer();
	printf("ended well %lu\n", well);
	target_count("outer", outer_cnt);
	target_count("by_vfork", by_vfork_cnt);
	target_count("by_spawn", by_spawn_cnt);
	target_count("by_system", by_system_cnt);
	target_count("leaf", leaf_cnt);
	return 0;
}
