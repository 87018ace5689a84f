/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the tracer's two files: tracer_load.c makes one, tracer.c uses it. */
#ifndef PROFTRACE_ATTACH_TRACER_INSIDE_H
#define PROFTRACE_ATTACH_TRACER_INSIDE_H

#include <stdint.h>
#include <sys/types.h>

#include "attach/gate.h"
#include "attach/groups.h"

struct arguments;
struct life;
struct proftrace_bpf;
struct backend;

struct tracer {
	struct proftrace_bpf *skel;
	const struct backend *backend;
	struct groups groups;
	struct gate gate;
	struct life *life;
	uint32_t callstacks_cap, frames_cap, nodes_cap, index_cap, dists_cap, function_modes_cap,
		chunks_cap;
	uint32_t lists_cap;
	uint32_t passed_shares, line_shares;
	int region_programs[LATE_PROGRAMS]; /* once there are regions */
	bool regions_are_late;		    /* they are not the skeleton's */
	bool surveys;			    /* its programs can: see tracer__survey() */
	const struct arguments *arguments;
	size_t lists_told; /* of them, BPF has */
	uint32_t lines_cap;
	size_t lines_told;		     /* sites */
	uint32_t callers_cap, unwind_tables; /* tables: that are in the map */
};

/* Lets the events of a process count. Returns 0 or -errno. */
int tracer__admit(struct tracer *tr, pid_t pid);

/* Tells BPF of the lists of values that it has not got yet. Returns 0 or -errno. */
int tracer__tell_lists(struct tracer *tr);

#endif
