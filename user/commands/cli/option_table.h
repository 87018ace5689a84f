/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options, with their texts for --help. Inside cli/ only. */
#ifndef PROFTRACE_CLI_OPTION_TABLE_H
#define PROFTRACE_CLI_OPTION_TABLE_H

#include <argp.h>

#define STDOUT_PATH  "/dev/fd/1"
#define HELP_COLUMNS 32 /* of "      --name=ARG" */

/* Options without a letter. */
enum option_key {
	OPT_COLOR = 256,
	OPT_PROCESS_FRAMES,
	OPT_THREAD_FRAMES,
	OPT_MAX_PATHS,
	OPT_TIER,
	OPT_FOLLOW,
	OPT_NO_CHILDREN,
	OPT_EXITS,
	OPT_MAX_OVERHEAD,
	OPT_SAMPLE_HOT,
	OPT_RAW,
	OPT_NO_SAMPLES,
	OPT_INLINES,
	OPT_NO_INLINES,
	OPT_BURST,
	OPT_NO_BURSTS,
	OPT_SAMPLE_RATE,
	OPT_NO_PAGER,
	OPT_MIN_TIME,
	OPT_HIST,
	OPT_REVERSE,
	OPT_APPEND,
	OPT_THREAD,
	OPT_RUN,
	OPT_CALLS,
	OPT_MAX_SIZE,
	OPT_BUFFER_SIZE,
	OPT_RANGE,
	OPT_PER_CALL,
	OPT_SESSION,
	OPT_SLOWEST,
	OPT_OVER,
	OPT_LINK,
	OPT_SESSION_ID,
	OPT_TRACE_ID,
	OPT_PAUSED,
	OPT_SKIP,
	OPT_IF,
	OPT_TRIGGER,
	OPT_UNTIL,
	OPT_BY,
	OPT_USDT,
	OPT_LINES,
	OPT_CALLERS,
	OPT_UNIT,
	OPT_CGROUP,
	OPT_CONTAINER,
	OPT_USER,
	OPT_ASSERT,
	OPT_TO,
	OPT_FROM,
	OPT_WHERE,
	OPT_SERVICE,
	OPT_SERVICE_VERSION,
	OPT_HOST,
	OPT_CA_FILE,
	OPT_COMPLETION,
	OPT_CHECK,
	OPT_SERVE,
	OPT_NO_TOKEN,
	OPT_SYSCALLS,
	OPT_SLO,
	OPT_SLO_WINDOW,
	OPT_ON_SLOW,
};

extern const struct argp_option option_table[];
extern const char option_table_doc[];

/* The long name of an option. */
const char *option_table__name(int key);

#endif
