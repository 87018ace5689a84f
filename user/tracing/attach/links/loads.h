/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the process that loads programs and makes maps: see loader.h. */
#ifndef PROFTRACE_ATTACH_LINKS_LOADS_H
#define PROFTRACE_ATTACH_LINKS_LOADS_H

/* A request about the programs at tracepoints. */
enum tracepoints {
	TRACEPOINTS_ATTACH, /* all but those at system calls */
	TRACEPOINTS_DETACH,
	TRACEPOINTS_PAUSE,  /* the dear ones: at switches, wake-ups and system calls */
	TRACEPOINTS_RESUME, /* as before, but for those at system calls */
	TRACEPOINTS_CALLS,  /* attaches those at system calls */
};

/* Maps that belong to no program. */
enum loose_map { LOOSE_GATE_INNER, LOOSE_GATE_OUTER, LOOSE_UNWIND_TABLE };

#endif
