/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes each option with its value into struct options. Inside cli/ only. */
#ifndef PROFTRACE_CLI_OPTION_TAKE_H
#define PROFTRACE_CLI_OPTION_TAKE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

struct options;

/* Takes over an option and its value, with one line logged if that is no good. Returns 0,
 * ARGP_ERR_UNKNOWN if there is no such option, or an error as argp's parsers do. */
error_t option_take(struct options *o, int key, char *arg);

/* Adds to a list; false: no memory. */
bool option_append(char ***list, size_t *cnt, char *text);

#endif
