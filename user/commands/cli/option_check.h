/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks options that need or exclude each other. Inside cli/ only. */
#ifndef PROFTRACE_CLI_OPTION_CHECK_H
#define PROFTRACE_CLI_OPTION_CHECK_H

#include <argp.h>
#include <errno.h>
#include <stdbool.h>

#include "cli/options.h"
#include "util/log.h"

/* options.max_overhead, before it has been settled. */
#define OVERHEAD_NOT_GIVEN -1.0
/* And options.sample_rate. */
#define SAMPLE_RATE_NOT_GIVEN UINT32_MAX

/* Reports a usage error. */
#define complain(o, ...) (log_error(__VA_ARGS__), (o)->complained = true, EINVAL)

/* Whether it is about sessions: they are looked for in what has been recorded, not as it is. */
bool option_check__is_of_sessions(int key);

/* With the option's name. */
#define RECORD_SESSIONS                                                                         \
	"--%s is for report: record --calls keeps the calls that sessions are made of, and -A " \
	"'submit(arg1)' -A 'run(arg1)' the values that --link joins by"

/* Whether the option says something about what the verb does. */
bool option_check__suits(enum verb verb, int key);

/* Remembers that the option was given, for option_check__all(). */
void option_check__note(struct options *o, int key);

/* Looks at what was given as a whole, and settles what was not and depends on the rest. Returns 0,
 * EINVAL with one line logged, or ENOMEM. */
error_t option_check__all(struct options *o);

#endif
