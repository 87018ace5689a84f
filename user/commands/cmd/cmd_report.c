// SPDX-License-Identifier: GPL-2.0-or-later
/* report: what a recording holds, in any format. Needs neither privileges nor what was traced. */
#include "cmd/cmd.h"

#include <errno.h>

#include "calls/profile.h"
#include "cli/options.h"
#include "report/asked.h"
#include "report/input.h"
#include "report/output.h"
#include "report/recorded_run.h"
#include "report/show.h"
#include "security/privilege.h"
#include "security/sandbox.h"
#include "util/log.h"
#include "util/signals.h"
#include "views/by_value.h"
#include "views/drops.h"

int cmd_report(const struct options *o)
{
	struct value_names names = {0};
	struct recorded run = {0};
	struct asked asked = {0};
	struct output out = {0};
	int err, close_err;

	signals__ignore();
	output__page(&out, o);
	privilege__drop_for_report();
	err = asked__ask(&asked, o);
	sandbox__enter(o->output);
	if (!err)
		err = input__spare(o);
	if (!err)
		err = o->from ? asked__load(&asked, 0, &run)
			      : recorded_run__load(o->inputs[0], o, &run);
	if (!err)
		err = show__possible(o, run.profile);
	if (!err)
		err = show__split(o, run.profile, &names);
	if (!err)
		err = show__filter(o, run.profile);
	if (!err)
		err = output__open(&out, o);
	if (!err)
		err = output__begin(&out);
	if (!err) {
		out.opts.raw = run.run_info.raw;
		err = show__write(&out, o, &run.profile);
	}
	if (!err)
		output__account(&out, run.profile, drops__functions(run.profile));
	close_err = output__close(&out);
	if (!err)
		err = close_err;
	recorded__free(&run);
	asked__free(&asked);
	value_names__free(&names);
	log_unexplained(err);
	return err && err != -EPIPE ? 1 : 0;
}
