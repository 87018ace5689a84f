// SPDX-License-Identifier: GPL-2.0-or-later
/* diff: what has changed from one recorded run to another. */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>

#include "cli/options.h"
#include "diff/diff.h"
#include "report/asked.h"
#include "report/input.h"
#include "report/output.h"
#include "report/recorded_run.h"
#include "report/show.h"
#include "security/privilege.h"
#include "security/sandbox.h"
#include "util/log.h"
#include "util/signals.h"

/* A stranger's recording may leave anything unsaid. */
static const char *known(const char *text)
{
	return text ? text : "unknown";
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(known(a), known(b));
}

/* Runs need not be alike to be compared, but who reads the result has to know. */
static void say_what_differs(const struct recorded runs[DIFF_RUNS], const struct options *o)
{
	const struct run_info *old = &runs[DIFF_OLD].run_info, *now = &runs[DIFF_NEW].run_info;
	uint64_t old_calls = runs[DIFF_OLD].profile->accounting.entered;
	uint64_t new_calls = runs[DIFF_NEW].profile->accounting.entered;
	bool dropped = runs[DIFF_OLD].profile->drops_cnt || runs[DIFF_NEW].profile->drops_cnt;

	if (old->raw != now->raw)
		log_warn("what the probes cost was left in the times of the %s run only (--raw)",
			 old->raw ? "old" : "new");
	if (!o->from && (!same_text(old->host, now->host) || !same_text(old->kernel, now->kernel)))
		log_warn("the runs are of different machines: %s, Linux %s, and %s, Linux %s",
			 known(old->host), known(old->kernel), known(now->host),
			 known(now->kernel));
	/* Calls of a dropped function are counted until the drop, whose moment differs by run. */
	if (!o->per_call && !dropped && (old_calls / 2 > new_calls || new_calls / 2 > old_calls))
		log_info("one run has more than twice as many calls as the other; --per-call "
			 "compares what they took");
}

static int compare(const struct options *o, const struct recorded runs[DIFF_RUNS],
		   const size_t numbers[DIFF_RUNS], struct diff **out)
{
	static const enum diff_time times[] = {
		[WEIGHT_WALL] = DIFF_WALL,
		[WEIGHT_CPU] = DIFF_CPU,
		[WEIGHT_OFF] = DIFF_OFF,
		[WEIGHT_CALLS] = DIFF_WALL,
	};
	const struct diff_options opts = {
		.time = times[o->sink_opts.weight],
		.per_call = o->per_call,
		.min_time_ns = o->min_time_ns,
	};
	struct diff_run sides[DIFF_RUNS];
	int err;

	for (size_t i = 0; i < DIFF_RUNS; i++)
		sides[i] = (struct diff_run){
			.profile = runs[i].profile,
			.file = o->from ? o->wheres[i] : o->inputs[o->inputs_cnt == 1 ? 0 : i],
			.number = numbers[i],
		};
	err = diff__new(sides, &opts, out);
	if (err)
		log_error("cannot compare the runs: %s", strerror(-err));
	return err;
}

static int load(const struct options *o, struct asked *asked, struct recorded runs[DIFF_RUNS],
		size_t numbers[DIFF_RUNS])
{
	int err = 0;

	if (!o->from)
		return recorded_run__load_two(o, runs, numbers);
	for (size_t i = 0; i < DIFF_RUNS && !err; i++) {
		numbers[i] = 0;
		err = asked__load(asked, i, &runs[i]);
	}
	return err;
}

int cmd_diff(const struct options *o)
{
	struct recorded runs[DIFF_RUNS] = {0};
	size_t numbers[DIFF_RUNS];
	struct asked asked = {0};
	struct output out = {0};
	struct diff *d = NULL;
	int err, close_err;

	signals__ignore();
	output__page(&out, o);
	privilege__drop_for_report();
	err = asked__ask(&asked, o);
	sandbox__enter(o->output);
	if (!err)
		err = input__spare(o);
	if (!err)
		err = load(o, &asked, runs, numbers);
	if (!err)
		err = show__filter_all(
			o, (struct profile *[]){runs[DIFF_OLD].profile, runs[DIFF_NEW].profile},
			DIFF_RUNS);
	if (!err)
		err = compare(o, runs, numbers, &d);
	if (!err)
		say_what_differs(runs, o);
	if (!err)
		err = output__open(&out, o);
	if (!err)
		err = output__begin(&out);
	if (!err) {
		out.opts.raw = runs[DIFF_OLD].run_info.raw && runs[DIFF_NEW].run_info.raw;
		err = output__write_diff(&out, d);
	}
	close_err = output__close(&out);
	if (!err)
		err = close_err;
	diff__free(d);
	for (size_t i = 0; i < DIFF_RUNS; i++)
		recorded__free(&runs[i]);
	asked__free(&asked);
	log_unexplained(err);
	return err && err != -EPIPE ? 1 : 0;
}
