// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/commands.h"

#include "cmd/cmd.h"

static int trace_or_list(const struct options *o)
{
	return o->list ? cmd_list(o) : o->all ? cmd_machine(o) : cmd_trace(o);
}

const struct command commands[] = {
	{VERB_TRACE, trace_or_list}, {VERB_RECORD, trace_or_list}, {VERB_TOP, trace_or_list},
	{VERB_REPORT, cmd_report},   {VERB_DIFF, cmd_diff},	   {VERB_DOCTOR, cmd_doctor},
	{VERB_CHECK, cmd_check},     {VERB_SEND, cmd_send},	   {VERB_AGENT, cmd_agent},
};
const size_t commands_cnt = sizeof(commands) / sizeof(*commands);
