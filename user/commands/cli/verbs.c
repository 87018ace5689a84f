// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/verbs.h"

#include <string.h>

const struct verb_row verbs[VERBS] = {
	[VERB_TRACE] = {"", "",
			"[OPTION...] -p NAME|PID[,...]\n[OPTION...] -x PATH\n"
			"[OPTION...] [--] CMD [ARGS...]\n[OPTION...] -a"},
	[VERB_RECORD] = {"record", "keep a run in a file",
			 "[OPTION...] -p NAME|PID[,...] | -x PATH | -a | [--] CMD [ARGS...]"},
	[VERB_TOP] = {"top", "show live on the whole screen which functions are called",
		      "[OPTION...] [-p NAME|PID[,...] | -x PATH | -a]"},
	[VERB_REPORT] = {"report", "show a recording", "[OPTION...] [FILE]"},
	[VERB_DIFF] = {"diff", "compare two recordings", "[OPTION...] [OLD [NEW]]"},
	[VERB_CHECK] = {"check", "check assertions about a run",
			"--assert ... [OPTION...] [FILE]\n"
			"--assert ... [OPTION...] -p NAME|PID[,...] | -x PATH | -- CMD [ARGS...]"},
	[VERB_SEND] = {"send", "send recordings to a database of many machines",
		       "--to URL [OPTION...] [FILE...]"},
	[VERB_AGENT] = {"agent", "record services all the time", "[--check] [FILE]"},
	[VERB_DOCTOR] = {"doctor", "tell what works on this machine", "[-f json]"},
};

enum verb verb__find(const char *word)
{
	FOR_EACH_VERB(v)
	{
		if (!strcmp(word, verbs[v].name))
			return v;
	}
	return VERB_TRACE;
}
