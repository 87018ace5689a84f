/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs: what the first word of a command line may be. Completions and man pages are made of
 * this table as well. */
#ifndef PROFTRACE_CLI_VERBS_H
#define PROFTRACE_CLI_VERBS_H

#include "cli/options.h"

struct verb_row {
	const char *name;
	const char *text; /* what it does, in a few words that no shell takes for anything else */
	/* Words that may stand behind the verb, each way on a line of its own. */
	const char *usage;
};

/* By enum verb; that of VERB_TRACE is empty. */
extern const struct verb_row verbs[VERBS];

#define FOR_EACH_VERB(V) for (enum verb V = VERB_TRACE + 1; V < VERBS; V++)

/* VERB_TRACE: it is none. */
enum verb verb__find(const char *word);

#endif
