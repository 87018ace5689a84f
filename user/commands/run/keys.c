// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/keys.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static volatile sig_atomic_t changed;

/* Who is not, and touches the terminal, is stopped. */
static bool in_foreground(void)
{
	return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

int keys__start(void)
{
	struct termios now;

	if (!in_foreground() || tcgetattr(STDIN_FILENO, &before))
		return -1;
	now = before;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	now.c_cc[VMIN] = 1;
	now.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &now))
		return -1;
	changed = true;
	return STDIN_FILENO;
}

void keys__stop(void)
{
	int saved = errno;

	if (changed && in_foreground())
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	changed = false;
	errno = saved;
}
