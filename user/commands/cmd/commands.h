/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of this program's commands: those of commands.c, or, if it was built to read recordings
 * only, those of report_commands.c. */
#ifndef PROFTRACE_CMD_COMMANDS_H
#define PROFTRACE_CMD_COMMANDS_H

#include <stddef.h>

#include "cli/options.h"

struct command {
	enum verb verb;
	int (*run)(const struct options *o); /* returns the exit status */
};

extern const struct command commands[];
extern const size_t commands_cnt;

#endif
