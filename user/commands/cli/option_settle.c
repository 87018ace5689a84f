// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/option_settle.h"

#include "cli/options.h"
#include "util/log.h"

/* In percent of the target's own CPU time. All functions of a program may be more than it bears;
 * who names functions wants them. */
#define DEFAULT_MAX_OVERHEAD 5.0

#define MAX_PATHS	(1u << 20)
#define MAX_PATHS_SHORT (1u << 18)
#define SHORT_NS	60000000000ull

/* Who names functions wants them all: only without that is there a budget unless one is given. */
static void settle_budget(struct options *o)
{
	o->filtered = (o->filters_cnt && !o->slos_cnt) || o->lines_cnt;
	o->tells_overhead = o->max_overhead == OVERHEAD_NOT_GIVEN && o->filtered;
	if (o->max_overhead == OVERHEAD_NOT_GIVEN)
		o->max_overhead = o->filtered ? 0 : DEFAULT_MAX_OVERHEAD;
	if (o->sample_hot && !(o->max_overhead > 0))
		log_warn(
			"--sample-hot is about functions that a budget drops, and there is none%s: "
			"add --max-overhead 5",
			o->filtered ? " with -F" : "");
}

/* Samples are part of what a budget buys: of single calls there are none, and under -x nobody knows
 * what processes have mapped. */
static void settle_samples(struct options *o)
{
	bool fits = o->max_overhead > 0 && !o->calls && (!o->exec || o->chosen);

	if (o->no_samples)
		o->sample_rate = 0;
	else if (o->sample_rate == SAMPLE_RATE_NOT_GIVEN) {
		o->sample_rate = fits ? SAMPLE_RATE_DEFAULT : 0;
		o->samples_by_budget = true;
	}
}

/* The kernel clears the memory of all paths as a run begins, which takes 30 ms. A run that is over
 * within a minute and has a budget does not come to know a quarter as many. */
static void settle_paths(struct options *o)
{
	bool is_short = o->duration_ns && o->duration_ns <= SHORT_NS && o->max_overhead > 0;

	if (!o->max_paths)
		o->max_paths = is_short && o->chosen && !o->calls ? MAX_PATHS_SHORT : MAX_PATHS;
}

void option_settle__all(struct options *o)
{
	settle_budget(o);
	settle_samples(o);
	settle_paths(o);
}
