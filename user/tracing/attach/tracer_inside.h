/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the tracer's files: tracer_load.c makes one, tracer_sizes.c its tables, tracer.c uses
 * it. */
#ifndef PROFTRACE_ATTACH_TRACER_INSIDE_H
#define PROFTRACE_ATTACH_TRACER_INSIDE_H

#include <stdint.h>
#include <sys/types.h>

#include "attach/gate.h"
#include "attach/groups.h"
#include "attach/tracer_tables.h"

struct arguments;
struct life;
struct proftrace_bpf;
struct backend;

/* Unwind tables that programs do not find as yet. */
struct new_tables {
	uint32_t *numbers;
	int *fds;
	size_t cnt, numbers_cap, fds_cap;
};

void new_tables__free(struct new_tables *t);

/* The guess of a plan that loading was begun with, before the plan was made. */
struct tracer_begun {
	size_t functions_room;
	bool regions_planned, expects_go;
};

struct tracer {
	struct proftrace_bpf *skel;
	const struct backend *backend;
	struct groups groups;
	struct gate gate;
	struct life *life;
	struct tracer_tables tables;	    /* descriptors: once the programs are loaded */
	int region_programs[LATE_PROGRAMS]; /* once there are regions */
	bool regions_are_late;		    /* they are not the skeleton's */
	bool returns_spared;		    /* no program at return probes is loaded */
	bool watches_system_calls;	    /* with --syscalls */
	bool surveys;			    /* its programs can: see tracer__survey() */
	const struct arguments *arguments;
	size_t lists_told; /* of them, BPF has */
	size_t lines_told; /* sites */
	struct new_tables new_tables;
	struct tracer_begun begun;
};

struct tracer_options;

/* Sizes the tables of programs that are not loaded yet, and tells these how large they are; leaves
 * out programs that no table is for. `processes`: the target's, 0 where any may come; `unwinds`:
 * the programs can. */
void tracer__size(struct tracer *tr, const struct tracer_options *opts, size_t processes,
		  bool unwinds);

/* Lets the events of a process count. Returns 0 or -errno. */
int tracer__admit(struct tracer *tr, pid_t pid);

/* Tells BPF of the lists of values that it has not got yet. Returns 0 or -errno. */
int tracer__tell_lists(struct tracer *tr);

#endif
