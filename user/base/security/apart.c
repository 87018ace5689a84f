// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "security/open_files.h"

void apart__go(int socket, const char *name)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};
	int null = open("/dev/null", O_RDWR);

	setsid();
	open_files__allow_most();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, name);
	for (int fd = 0; fd < APART_SOCKET && null >= 0; fd++)
		dup2(null, fd);
	if (socket != APART_SOCKET) {
		dup2(socket, APART_SOCKET);
		fcntl(APART_SOCKET, F_SETFD, FD_CLOEXEC);
	}
	open_files__close_from(APART_SOCKET + 1);
}

const char *apart__why_not(int err)
{
	if (err != -EAGAIN)
		return strerror(-err);
	return "a limit of processes has been met; see ulimit -u, and pids.max of the control "
	       "group";
}
