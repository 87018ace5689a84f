/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls that are sessions, and how sessions go on in other threads. */
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

/* The application's own id of a session: values of the session's own call, by their names in
 * p->arguments. Strings are borrowed. */
struct session_id_spec {
	const char *value; /* NULL: not asked for */
	const char *rest;  /* both are numbers, 16 bytes of a trace id; NULL: `value` is the id */
	bool is_context;   /* instead it is the trace of OpenTelemetry's thread context */
};

/* The sessions to be found: functions, and how many of them are kept. */
struct session_spec {
	const bool *functions; /* by function: its outermost calls are sessions */
	uint32_t slowest;      /* sessions of each function that are kept */
	uint64_t over_ns;      /* sessions that took longer are kept as well; 0: none for that */
	const struct session_link *links;
	size_t links_cnt;
	bool cut_at_start; /* calls that begin at 0 had begun before */
	struct session_id_spec id;
};

#endif
