/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line, parsed; constant once it has been checked. */
#ifndef PROFTRACE_CLI_OPTIONS_H
#define PROFTRACE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/assertion.h"
#include "cli/link.h"
#include "cli/session_id.h"
#include "sink/sink.h"
#include "util/net_address.h"

struct run_share;

/* In the order in which they are offered; verbs.c has their names. */
enum verb {
	VERB_TRACE, /* none was given */
	VERB_RECORD,
	VERB_TOP, /* live, on the whole screen */
	VERB_REPORT,
	VERB_DIFF,
	VERB_CHECK,
	VERB_SEND, /* to a database of many machines' profiles */
	VERB_AGENT,
	VERB_DOCTOR,
	VERBS,
};

#define OPTIONS_INPUTS_MAX 256 /* of send; of others one or two */
#define OPTIONS_WHERES_MAX 2

/* Functions that the compiler has inlined, and that samples have met: which of them are named. */
enum inlines_told {
	INLINES_CHEAP, /* where debug information takes little to read */
	INLINES_ALL,
	INLINES_NONE,
};

struct options {
	enum verb verb;
	char *const *argv; /* all of the command line, NULL-terminated */
	/* target */
	pid_t *pids; /* -p: by number */
	size_t pids_cnt;
	char **names; /* -p: by name, globs; owned, with their texts */
	size_t names_cnt;
	/* All that are given (not NULL) hold of the processes that are traced. */
	const char *unit, *cgroup, *container, *user;
	bool chosen; /* processes were chosen, by -p or one of the above */
	bool joins;  /* other processes may belong to the target later */
	bool all;    /* -a: all processes of the machine, from samples alone */
	bool *left;  /* top of a process: set when somebody goes back to all of them; NULL: none */
	const char *exec;
	char *const *command; /* NULL-terminated; NULL: none */
	/* functions */
	char **filters, **notraces;
	size_t filters_cnt, notraces_cnt;
	char **usdts; /* other programs' probes: [OBJECT:]PROVIDER:NAME */
	size_t usdts_cnt;
	char **arguments;  /* values to read: -A, and what --link needs; owned */
	char **conditions; /* on those: --if */
	size_t arguments_cnt, conditions_cnt;
	/* `arguments` has first what -A asks for, then what --link needs beside it, then what
	 * --session-id needs: where the first and the second end. */
	size_t arguments_given, arguments_linked;
	bool filtered; /* functions were chosen: by -F, or by --lines */
	/* Globs: calls of these begin the recording, or end it. They are among `filters`, at its
	 * end and in this order. */
	char **triggers, **untils;
	size_t triggers_cnt, untils_cnt;
	const char *by; /* the value by which calls are told apart; NULL: none */
	uint32_t depth; /* 0: no limit */
	char **lines;	/* of source, to be counted: --lines */
	size_t lines_cnt;
	/* run */
	uint64_t duration_ns, interval_ns; /* 0: none */
	struct net_address serve;	   /* the live page's; len 0: there is none */
	uint64_t serve_interval_ns;
	bool no_token;
	bool paused;	    /* tracing is switched off at the start */
	uint64_t skip_ns;   /* tracing is switched on after so long; 0: by hand only */
	uint32_t max_paths; /* 0 until all options are known, and not given */
	const char *backend;
	const char *exits; /* the strategy for all functions; NULL: chosen for each */
	bool list;
	bool follow;		 /* children as well, and the programs they begin */
	bool children;		 /* forked children, until they begin a program */
	bool tells_overhead;	 /* says what probes cost, as nobody has chosen to have no budget */
	double max_overhead;	 /* percent of the target's own CPU time; 0: no budget */
	uint32_t sample_hot;	 /* keep one call in so many of a dropped function; 0: none */
	bool append;		 /* record: to what the file holds */
	bool calls;		 /* single calls as well */
	uint64_t buffer_size;	 /* bytes for those until they are fetched */
	uint64_t max_size;	 /* of the recording, in bytes: the newest calls are kept; 0: any */
	struct run_share *share; /* with a supervisor; NULL: there is none */
	/* recordings */
	/* report: one; diff: two, or one with two runs; send: any */
	const char *inputs[OPTIONS_INPUTS_MAX];
	size_t inputs_cnt;
	char **threads; /* globs on comm, or numbers; none: all */
	size_t threads_cnt;
	bool ranged;		 /* report: only what lies in [from_ns, to_ns) of the run */
	uint64_t from_ns, to_ns; /* 0 and UINT64_MAX if not given */
	/* fleets: see fleet/receiver.h */
	const char *to;			      /* send: the receiver's URL */
	const char *service, *version, *host; /* labels; NULL: not given */
	const char *ca_file;
	const char *from;			/* report, diff: the database's URL; NULL: inputs */
	const char *wheres[OPTIONS_WHERES_MAX]; /* which profiles of it; diff: old and new */
	size_t wheres_cnt;
	/* sessions, live and of recordings */
	char **sessions; /* globs: each outermost call of such a function is one */
	size_t sessions_cnt;
	uint32_t slowest;	   /* sessions that are kept with all their calls */
	uint64_t over_ns;	   /* sessions that took longer are kept as well; 0: not given */
	struct link_option *links; /* how they go on in other threads */
	size_t links_cnt;
	struct session_id_option session_id; /* where their own ids lie */
	struct assertion *assertions;	     /* check: what is to hold */
	size_t assertions_cnt;
	/* record: rules that are watched all the time; a recording is made where one is broken */
	struct assertion *slos;
	size_t slos_cnt;
	uint64_t slo_window_ns;
	const char *on_slow; /* a command that is run for each of these; NULL: none */
	uint32_t run;	     /* of the recording, from 1 on; 0: the last one */
	/* result */
	const struct sink *sink; /* NULL: by what stdout is */
	bool per_call;		 /* diff: what calls take, however many they are */
	bool system_calls;	 /* are traced as well */
	bool callers;		 /* who calls outermost calls, untraced */
	bool no_samples;	 /* of CPU time */
	enum inlines_told inlines;
	uint64_t burst_ns; /* a burst of dropped functions; 0: none are taken */
	bool burst_asked;
	uint32_t sample_rate;	/* samples for the tree, a second and CPU; 0: none */
	bool samples_asked;	/* for the tree, not just by default */
	bool samples_by_budget; /* as many are taken as are affordable, not so many a second */
	bool raw;		/* leave the probes' cost in */
	uint64_t min_time_ns;	/* what took less in total is not listed */
	char **hists;		/* globs: functions whose distribution is drawn */
	size_t hists_cnt;
	struct sink_options sink_opts;
	const char *output; /* NULL: stdout; record: the recording */
	enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
	bool no_pager;
	bool quiet, verbose;
	bool check;	 /* agent: looks at its configuration only */
	bool help;	 /* help or version was asked for, and printed */
	bool complained; /* a usage error was reported */
	/* The first given option that says how functions are probed, and the first that is about a
	 * run and not about a recording (check); 0: none. */
	int of_probes, of_a_run;
	int failed_at; /* the word in argv behind the one that was not understood */
};

#define RECORDING	     "proftrace.data" /* unless another one is named */
#define OPTIONS_USAGE_STATUS 2
#define SAMPLE_RATE_MAX	     10000
/* A prime, so that samples do not keep step with what the target does every 10 or 100 ms. */
#define SAMPLE_RATE_DEFAULT 97

#endif
