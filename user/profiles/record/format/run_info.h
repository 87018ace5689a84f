/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a recorded run besides its profiles: when, where, by which command line. */
#ifndef PROFTRACE_RECORD_FORMAT_RUN_INFO_H
#define PROFTRACE_RECORD_FORMAT_RUN_INFO_H

#include <stddef.h>
#include <stdint.h>

/* Strings are borrowed. */
struct run_info {
	double start_time;   /* seconds since 1970 */
	const char *version; /* of the proftrace that recorded */
	const char *host, *kernel, *machine;
	uint32_t raw;		 /* the probes' cost was left in the times */
	const char *const *args; /* the command line of proftrace */
	size_t args_cnt;
};

struct run_end {
	const char *reason; /* a few words */
};

/* With a limit to the file's size, the oldest calls that went for it. */
struct recorded_gap {
	uint64_t calls;
	uint64_t until_ns; /* since the start: all that ended later are there */
};

#endif
