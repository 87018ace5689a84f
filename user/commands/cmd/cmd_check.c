// SPDX-License-Identifier: GPL-2.0-or-later
/* check: whether assertions hold of a run, which is recorded first, or of a recording. */
#include "cmd/cmd.h"

#include <stdbool.h>

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

/* Returns the exit status. */
static int judge_all(const struct options *o, const char *path)
{
	struct recorded run = {0};
	size_t fails = 0, unknown = 0;
	int err = recorded_run__load(path, o, &run);

	if (!err)
		err = profile__summarize(run.profile);
	for (size_t i = 0; !err && i < o->assertions_cnt; i++) {
		enum verdict v = judge(&o->assertions[i], run.profile);

		fails += v == FAILS;
		unknown += v == UNKNOWN;
	}
	recorded__free(&run);
	log_unexplained(err);
	if (fails || unknown)
		log_error("%zu of %zu assertions %s: proftrace report %s shows the run",
			  fails + unknown, o->assertions_cnt,
			  !unknown ? "failed" : "failed or could not be told", path);
	return err ? 1 : fails ? STATUS_FAILS : unknown ? 1 : 0;
}

int cmd_check(const struct options *o)
{
	struct options run = *o;
	bool recorded = false;
	int status = 0, judged;

	if (o->inputs_cnt) {
		privilege__drop_for_report();
		sandbox__enter(NULL);
		return judge_all(o, o->inputs[0]);
	}
	run.verb = VERB_RECORD;
	status = trace_and_tell(&run, &recorded);
	if (!recorded)
		return status ? status : 1;
	judged = judge_all(o, o->output);
	return status ? status : judged;
}
