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

/* How many assertions do not hold of a recording, and of how many that is not known. */
struct judged {
	size_t fails, unknown;
};

/* Judges the recording at `path` by all assertions. Returns 0, or -errno with one line logged. */
static int judge_recording(const struct options *o, const char *path, struct judged *j)
{
	struct recorded run = {0};
	int err = recorded_run__load(path, o, &run);

	*j = (struct judged){0};
	if (!err)
		err = profile__summarize(run.profile);
	for (size_t i = 0; !err && i < o->assertions_cnt; i++) {
		enum verdict v = judge_run(&o->assertions[i], &run);

		j->fails += v == FAILS;
		j->unknown += v == UNKNOWN;
	}
	recorded__free(&run);
	log_unexplained(err);
	return err;
}

/* Says how many assertions do not hold, and where the run can be seen. Returns the exit status. */
static int conclude(const struct options *o, const struct judged *j, int err, const char *path)
{
	if (j->fails || j->unknown)
		log_error("%zu of %zu assertions %s: proftrace report %s shows the run",
			  j->fails + j->unknown, o->assertions_cnt,
			  !j->unknown ? "failed" : "failed or could not be told", path);
	return err ? 1 : j->fails ? STATUS_FAILS : j->unknown ? 1 : 0;
}

/* Judges a recording that has a name of its user's. Returns the exit status. */
static int judge_named(const struct options *o, const char *path)
{
	struct judged j;
	int err = judge_recording(o, path, &j);

	return conclude(o, &j, err, path);
}

/* Judges the recording at `made`, which is kept only if an assertion does not hold. Returns the
 * exit status. */
static int judge_made(const struct options *o, const char *made)
{
	const char *path = made;
	struct judged j;
	int err = judge_recording(o, made, &j);

	if (j.fails || j.unknown)
		path = keep(made);
	else
		unlink(made);
	return conclude(o, &j, err, path);
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
		return judge_named(o, o->inputs[0]);
	}
	run.verb = VERB_RECORD;
	if (!o->output) {
		snprintf(made, sizeof(made), "." RECORDING ".%d", (int)getpid());
		run.output = made;
		privilege__keep_replacing(); /* in a folder of another user */
	}
	status = trace_and_tell(&run, &recorded);
	if (recorded)
		return status_of_both(status,
				      o->output ? judge_named(o, o->output) : judge_made(o, made));
	if (!o->output)
		unlink(made);
	return status ? status : 1;
}
