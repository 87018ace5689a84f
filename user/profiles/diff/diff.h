/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two profiles side by side, function by function and path by path. */
#ifndef PROFTRACE_DIFF_DIFF_H
#define PROFTRACE_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/estimate.h"
#include "calls/profile.h"
#include "diff/change.h"
#include "diff/diff_run.h"

enum diff_time { DIFF_WALL, DIFF_CPU, DIFF_OFF };

struct diff_options {
	enum diff_time time;  /* what is compared */
	bool per_call;	      /* what the new run's calls took, and had taken before */
	uint64_t min_time_ns; /* what took less in total, in both, is hidden */
};

/* A function, or a path, in both runs. */
struct diff_figures {
	struct call_stats stats[DIFF_RUNS]; /* as measured */
	struct change self, total;	    /* of the time that is compared */
	int64_t calls;			    /* the new less the old, saturated; uncounted: 0 */
	bool calls_noise;		    /* has not changed, or estimates have by chance */
	bool there[DIFF_RUNS];		    /* the run knows it */
	uint32_t sampled;		    /* one of the counts is an estimate; 0: exact */
	struct estimate estimates[DIFF_RUNS];
	double total_varied[DIFF_RUNS]; /* of inclusive time: see total_errors.h */
	bool uncounted;			/* one run knows it from samples alone: no calls */
	/* Samples of one run alone have met it, so few that they might have missed it. */
	bool unseen;
	/* A run has dropped the function. What is compared then is its own CPU time, of which the
	 * time since is known by samples; off the CPU it is known until the drop alone. */
	bool by_samples;
	bool cut[DIFF_RUNS]; /* the run has dropped it, and its calls are those until then */
	bool hidden;	     /* cheap in both, or never called */
};

struct diff {
	struct diff_options opts;
	struct diff_run runs[DIFF_RUNS];
	/* All functions, threads by their names, and paths of both, linked. Stats of nodes are the
	 * sums of both runs' and serve to sort; those of functions are the newer run's. Strings are
	 * those of the runs. */
	struct profile *both;
	struct diff_figures *functions; /* by function of `both` */
	struct diff_figures *paths;	/* by node of `both` */
	/* All outermost calls together: what is compared, and its part on a CPU. */
	struct change whole, whole_cpu;
	struct diff_left_out *left_out;
	size_t left_out_cnt;
	size_t by_samples_cnt; /* functions that are compared by samples, as one run dropped them */
};

/*
 * Compares two profiles, which are linked and stay the caller's, and must outlive *out. A function
 * that was not traced all of the time in one run, nor seen by samples in both, would leave its time
 * with its callers there: it is taken out of both (diff_common.h), which changes the profiles;
 * left_out tells. Threads are the same if their names are, or if each run has one more that the
 * other has not. Returns 0 or -ENOMEM, the profiles perhaps changed.
 */
int diff__new(const struct diff_run runs[DIFF_RUNS], const struct diff_options *opts,
	      struct diff **out);
void diff__free(struct diff *d); /* accepts NULL */

enum diff_order { DIFF_BY_SELF, DIFF_BY_CALLS };

/* Rows that are not hidden by how much they have changed, most first: rows[] up to `changed`, and
 * behind these what is noise. */
struct diff_ranking {
	uint32_t *rows;
	size_t changed, cnt;
};

/* Ranks diff::functions or diff::paths (whose first entry is unused). Returns 0 or -ENOMEM; the
 * caller frees out->rows. */
int diff__rank(const struct diff_figures *figures, size_t first, size_t cnt, enum diff_order order,
	       struct diff_ranking *out);

#endif
