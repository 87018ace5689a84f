/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of --help, made of the tables of verbs and options. Inside cli/ only. */
#ifndef PROFTRACE_CLI_HELP_H
#define PROFTRACE_CLI_HELP_H

#include <stdio.h>

#include "cli/options.h"

/* Prints the usage of a verb, as "proftrace report [OPTION...] [FILE]", and the options that it
 * takes; for VERB_TRACE, which stands for no verb at all, all usages and all options. */
void help__print(enum verb verb, FILE *out);

#endif
