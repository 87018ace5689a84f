// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/verbs.h"

#include <string.h>

const struct verb_row verbs[VERBS] = {
	[VERB_TRACE] = {"", ""},
	[VERB_RECORD] = {"record", "keep a run in a file"},
	[VERB_TOP] = {"top", "show on the whole screen what is called meanwhile"},
	[VERB_REPORT] = {"report", "show a recording"},
	[VERB_DIFF] = {"diff", "show what has changed from one recording to another"},
	[VERB_CHECK] = {"check", "tell whether assertions hold of a run"},
	[VERB_SEND] = {"send", "give recordings to a database of many machines"},
	[VERB_AGENT] = {"agent", "record services all the time"},
	[VERB_DOCTOR] = {"doctor", "tell what works on this machine"},
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
