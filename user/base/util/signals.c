// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* The signals that we handle or ignore ourselves. */
static struct {
	int number;
	bool ignored;
} ours[] = {{SIGINT, false},  {SIGTERM, false}, {SIGHUP, false},  {SIGPIPE, false},
	    {SIGUSR1, false}, {SIGUSR2, false}, {SIGXFSZ, false}, {SIGCHLD, false}};

#define COUNT (sizeof(ours) / sizeof(*ours))

void signals__note(void)
{
	for (size_t i = 0; i < COUNT; i++) {
		struct sigaction action;

		ours[i].ignored =
			!sigaction(ours[i].number, NULL, &action) && action.sa_handler == SIG_IGN;
	}
	/* Ignored, it has the kernel forget how children have ended. */
	signal(SIGCHLD, SIG_DFL);
}

void signals__ignore(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

void signals__restore(void)
{
	for (size_t i = 0; i < COUNT; i++)
		signal(ours[i].number, ours[i].ignored ? SIG_IGN : SIG_DFL);
}
