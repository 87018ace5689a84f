/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that a run holds. */
#ifndef PROFTRACE_RUN_RUN_H
#define PROFTRACE_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "budget/inputs.h"
#include "plan/options.h"
#include "planner/callers.h"
#include "planner/inlined.h"
#include "report/output.h"
#include "report/temp_recording.h"
#include "symbol/jit.h"
#include "run/progress.h"
#include "run/selection.h"
#include "unwind/spaces.h"

struct collector;
struct description;
struct folder;
struct kallsyms;
struct link_holder;
struct live;
struct options;
struct recorder;
struct samples;
struct slo_watch;
struct server;
struct controller;
struct profile;
struct target;
struct tracer;
struct wait_names;
struct watch;

/* Code without probes; see run/callers.h. */
struct callers {
	bool unwound;
	struct kallsyms *kernel; /* NULL: the kernel does not show it */
	struct unwind_spaces spaces;
	struct plan_callers named;
	struct plan_inlined inlined;
	struct jit jit;
	uint64_t astray; /* as tracer__unwind_astray() said last */
	bool warned;	 /* it was told that a process has too many mappings */
	bool full;	 /* it was told that there are too many processes */
};

/* Switching off and on; see run/pause.h. */
struct pause {
	bool off;
	bool by_hand;	    /* somebody has switched it */
	bool rests;	    /* it is off for a moment: see pause__rest() */
	bool suspended;	    /* the probes are out */
	uint64_t since_ns;  /* when it was switched off */
	uint64_t paused_ns; /* of pauses that have ended */
};

/* The function that is looked at closely; see run/zoom.h. */
struct zoom {
	bool on, all;
	uint32_t function;
};

struct run {
	const struct options *o;
	struct watch *watch;
	struct output out;
	struct live *live;	   /* in place of `out`; NULL: it is no live view */
	struct server *server;	   /* NULL: none */
	uint64_t serve_due_ns;	   /* when it is given the next update at the earliest */
	struct recorder *recorder; /* in place of `out`, or, with single calls, before it */
	struct folder *folder;	   /* in place of both: of each interval a recording */
	struct temp_recording temp_recording; /* the recorder's file where it comes before `out` */
	struct target *target;
	struct selection selection;
	struct plan_options plan_opts;
	struct plan *plan;
	struct link_holder *link_holder;
	struct tracer *begun; /* what is loaded while functions are planned; NULL: nothing */
	struct tracer *tracer;
	struct collector *collector;
	struct probe_costs known_costs; /* as measured before; all 0: not known */
	bool cost_unknown;		/* what probes cost could not be measured */
	struct budget_inputs budget;
	struct controller *controller;
	struct samples *samples; /* NULL: none are taken */
	struct slo_watch *slo;	 /* NULL: no rules are watched (--slo) */
	struct description *description;
	struct wait_names *wait_names; /* NULL: what threads wait for has no names */
	struct progress progress;
	struct pause pause;
	struct zoom zoom;
	struct callers callers;
	uint64_t joiners_due_ns;     /* when to look for processes that belong by now */
	size_t belong;		     /* processes that belonged at the last look */
	uint32_t snapshots;	     /* written on demand */
	uint32_t system_calls_first; /* function that stands for system call 0 */
	size_t roles_cnt; /* functions that have been given their role: see run/roles.h */
	size_t attached;  /* functions */
	int early_status; /* 1, or the command's, if it has ended before it could be traced */
	uint64_t alone_since_ns; /* since when nobody has been left; 0: somebody is */
	bool named_ended;	 /* all processes but followed children have */
	bool alone_told;	 /* that they have, though the run goes on */
	uint64_t skipped_ends;	 /* of threads, by the kernel, when last looked at */
	unsigned int gone_looks; /* for threads that may have ended unseen, still to be done */
	bool lost_track;	 /* of what the processes have loaded */
	bool strangers_spared;	 /* other processes have no probes any more */
	struct profile *before;	 /* what the intervals so far have shown */
	uint32_t untold;	 /* intervals since that could not be written */
	double start_time;
	uint64_t command_ns;  /* when the command began to prepare the run */
	uint64_t surveyed_ns; /* before the start: see budget/survey.h */
	uint64_t start_ns, stop_ns;
};

#endif
