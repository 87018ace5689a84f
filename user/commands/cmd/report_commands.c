// SPDX-License-Identifier: GPL-2.0-or-later
/* The commands of `make report-only`, for machines that only read what others have recorded. */
#include "cmd/cmd.h"
#include "cmd/commands.h"

const struct command commands[] = {
	{VERB_REPORT, cmd_report},
	{VERB_DIFF, cmd_diff},
	{VERB_SEND, cmd_send},
};
const size_t commands_cnt = sizeof(commands) / sizeof(*commands);
