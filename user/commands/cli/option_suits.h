/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which options say something to which verbs: "--slowest" is no option of "proftrace record". */
#ifndef PROFTRACE_CLI_OPTION_SUITS_H
#define PROFTRACE_CLI_OPTION_SUITS_H

#include <stdbool.h>

#include "cli/options.h"

/* Whether the option of that key says something about what the verb does. */
bool option_suits__verb(enum verb verb, int key);

/* Whether the option is about sessions: they are looked for in what has been recorded, so record
 * has no such options. */
bool option_suits__sessions(int key);

#endif
