/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks options that need or exclude each other. Inside cli/ only. */
#ifndef PROFTRACE_CLI_OPTION_CHECK_H
#define PROFTRACE_CLI_OPTION_CHECK_H

#include <argp.h>
#include <errno.h>
#include <stdbool.h>

#include "cli/options.h"
#include "util/log.h"

/* Reports a usage error. */
#define complain(o, ...) (log_error(__VA_ARGS__), (o)->complained = true, EINVAL)

/* With the option's name. */
#define RECORD_SESSIONS                                                                         \
	"--%s is for report: record --calls keeps the calls that sessions are made of, and -A " \
	"'submit(arg1)' -A 'run(arg1)' the values that --link joins by"

/* Remembers that the option was given, for option_check__all(). */
void option_check__note(struct options *o, int key);

/* Looks at what was given as a whole, and settles what was not and depends on the rest. Returns 0,
 * EINVAL with one line logged, or ENOMEM. */
error_t option_check__all(struct options *o);

#endif
