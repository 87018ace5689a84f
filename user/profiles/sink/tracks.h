/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats that show time tell tracks apart by process and number. Threads whose number has been
 * used again, and goroutines with that of a thread, must not share one: their calls do not nest.
 */
#ifndef PROFTRACE_SINK_TRACKS_H
#define PROFTRACE_SINK_TRACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct profile;

struct track {
	pid_t pid;
	uint64_t number; /* within the process: as thread__number(), if that is not taken */
	uint32_t thread;
	bool first;	 /* of its process */
	bool renumbered; /* the number is not the thread's own */
};

/* A track for each thread that has calls, sorted by process and number, or, with titles,
 * by process alone. The caller frees *out.
 * Returns their number, or -ENOMEM. */
ssize_t tracks__new(const struct profile *p, struct track **out);

#endif
