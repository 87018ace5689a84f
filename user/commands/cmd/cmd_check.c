// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check: whether assertions hold of a run, which is recorded first, or of a recording. A recording
 * that nobody has named by -o is made beside proftrace.data, as .proftrace.data.123 of process 123,
 * and takes its place only if there is something to be looked at in it.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls/profile.h"
#include "calls/tree.h"
#include "cli/assertion.h"
#include "cli/options.h"
#include "report/judge.h"
#include "report/recorded_run.h"
#include "security/privilege.h"
#include "security/sandbox.h"
#include "util/log.h"

#define STATUS_FAILS 3

/* Gives the recording at `made` the name proftrace.data; who has that is proftrace.data.old then.
 * Returns the name that the recording has. */
static const char *keep(const char *made)
{
	struct stat st;

	if (!lstat(RECORDING, &st) && S_ISREG(st.st_mode) && rename(RECORDING, RECORDING ".old"))
		log_warn("%s is replaced: it cannot be renamed to %s.old: %s", RECORDING, RECORDING,
			 strerror(errno));
	if (!rename(made, RECORDING))
		return RECORDING;
	log_warn("the recording is in %s: it cannot be renamed to %s: %s", made, RECORDING,
		 strerror(errno));
	return made;
}

/* The verdict on a recorded run. A run that was cut off, as by SIGKILL for the profiler, has any
 * part of its calls in the recording, so nothing is known of it. */
static enum verdict judge_run(const struct assertion *a, const struct recorded *run)
{
	if (run->end.reason)
		return judge(a, run->profile);
	log_error("%s: not known, as the run was cut off before its end", a->text);
	return UNKNOWN;
}

/* Judges the recording at `path`, or with `made` the one there, which is kept only if an assertion
 * does not hold; NULL: `path` it is. Returns the exit status. */
static int judge_all(const struct options *o, const char *path, const char *made)
{
	struct recorded run = {0};
	size_t fails = 0, unknown = 0;
	int err = recorded_run__load(made ? made : path, o, &run);

	if (!err)
		err = profile__summarize(run.profile);
	for (size_t i = 0; !err && i < o->assertions_cnt; i++) {
		enum verdict v = judge_run(&o->assertions[i], &run);

		fails += v == FAILS;
		unknown += v == UNKNOWN;
	}
	recorded__free(&run);
	log_unexplained(err);
	if (made && (fails || unknown))
		path = keep(made);
	else if (made)
		unlink(made);
	if (fails || unknown)
		log_error("%zu of %zu assertions %s: proftrace report %s shows the run",
			  fails + unknown, o->assertions_cnt,
			  !unknown ? "failed" : "failed or could not be told", path);
	return err ? 1 : fails ? STATUS_FAILS : unknown ? 1 : 0;
}

/* A failed assertion goes before the status of the program, which is told then. */
static int status_of_both(int status, int judged)
{
	if (status && judged == STATUS_FAILS)
		log_warn("the exit status of the command was %d", status);
	return judged == STATUS_FAILS || !status ? judged : status;
}

int cmd_check(const struct options *o)
{
	struct options run = *o;
	bool recorded = false;
	char made[NAME_MAX];
	int status;

	if (o->inputs_cnt) {
		privilege__drop_for_report();
		sandbox__enter(NULL);
		return judge_all(o, o->inputs[0], NULL);
	}
	run.verb = VERB_RECORD;
	if (!o->output) {
		snprintf(made, sizeof(made), "." RECORDING ".%d", (int)getpid());
		run.output = made;
		privilege__keep_replacing(); /* in a folder of another user */
	}
	status = trace_and_tell(&run, &recorded);
	if (recorded)
		return status_of_both(status, judge_all(o, o->output, o->output ? NULL : made));
	if (!o->output)
		unlink(made);
	return status ? status : 1;
}
