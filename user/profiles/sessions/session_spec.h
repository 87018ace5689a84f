/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which calls are sessions, and how they go on in other threads. */
#ifndef PROFTRACE_SESSIONS_SESSION_SPEC_H
#define PROFTRACE_SESSIONS_SESSION_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 'submit(arg1) -> run(arg1)'. Strings are borrowed. */
struct session_link {
	const char *submit, *submit_value; /* a glob, and the name of a value in p->arguments */
	const char *run, *run_value;
};

/* The sessions to be found: functions, and how many of them are kept. */
struct session_spec {
	const bool *functions; /* by function: its outermost calls are sessions */
	uint32_t slowest;      /* so many of each function are kept */
	uint64_t over_ns;      /* and those that took longer; 0: none for that */
	const struct session_link *links;
	size_t links_cnt;
	bool cut_at_start; /* calls that begin at 0 had begun before */
};

#endif
