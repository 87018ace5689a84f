/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that a run holds. */
#ifndef PROFTRACE_RUN_RUN_H
#define PROFTRACE_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/costs.h"
#include "plan/options.h"
#include "report/output.h"
#include "report/spool.h"
#include "run/bystanders.h"
#include "run/callers.h"
#include "run/progress.h"
#include "run/switches.h"
#include "run/wanted.h"

struct collector;
struct description;
struct keeper;
struct options;
struct recorder;
struct samples;
struct steer;
struct profile;
struct target;
struct tracer;
struct watch;

struct run {
	const struct options *o;
	struct watch *watch;
	struct output out;
	struct recorder *recorder; /* in place of `out`, or, with single calls, before it */
	struct spool spool;	   /* where it writes to then */
	struct target *target;
	struct wanted wanted;
	struct plan_options plan_opts;
	struct plan *plan;
	struct keeper *keeper;
	struct tracer *tracer;
	struct collector *collector;
	struct probe_costs costs;
	struct steer *steer;
	struct samples *samples; /* NULL: none are taken */
	struct description *description;
	struct progress progress;
	struct switches switches;
	struct bystanders bystanders;
	struct callers callers;
	uint32_t snapshots;    /* written on demand */
	size_t roles_cnt;      /* functions that have been given theirs */
	size_t attached;       /* functions */
	int early_status;      /* 1, or the command's, if it has ended before it could be traced */
	bool named_ended;      /* all processes but followed children have */
	uint64_t skipped_ends; /* of threads, by the kernel, when last looked at */
	unsigned int gone_looks; /* for threads that may have ended unseen, still to be done */
	bool lost_track;	 /* of what the processes have loaded */
	struct profile *before;	 /* what the intervals so far have shown */
	double start_time;
	uint64_t start_ns, stop_ns;
};

#endif
