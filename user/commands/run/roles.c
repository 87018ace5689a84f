// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/roles.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "budget/controller.h"
#include "calls/function_glob.h"
#include "calls/profile.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "plan/plan.h"
#include "planner/tail_calls.h"
#include "planner/unmatched.h"
#include "run/run.h"
#include "target/target.h"
#include "util/glob.h"
#include "util/log.h"
#include "util/text.h"
#include "wire.h"

bool roles__is_named(const struct run *r, size_t function, const char *glob)
{
	const struct plan_function *f = &r->plan->functions[function];
	const struct profile_function named = {
		.name = plan__name(r->plan, function),
		.symbol = f->symbol,
		.aliases = f->aliases,
		.aliases_cnt = f->aliases_cnt,
		.module = r->target->objects[f->object].path,
		.kind = f->kind == PLAN_FUNCTION ? FUNCTION_PLAIN : FUNCTION_REGION,
	};

	return function_glob__matches(glob, &named);
}

/* Functions from the place on that one of these globs matches get the role. */
static int give(struct run *r, const char *option, char *const *globs, size_t cnt, uint32_t role)
{
	for (size_t g = 0; g < cnt; g++) {
		bool found = r->roles_cnt > 0;

		for (size_t i = r->roles_cnt; i < r->plan->functions_cnt; i++) {
			const struct plan_function *f = &r->plan->functions[i];

			if (!roles__is_named(r, i, globs[g]))
				continue;
			found = true;
			if (f->ordered && role == WIRE_ROLE_TRIGGER) {
				log_error("%s %s: %s is a span, begun by one function and ended by "
					  "another: nothing lies below it",
					  option, globs[g], f->symbol);
				return -EINVAL;
			}
			if (!collector__add_role(r->collector, i, role)) {
				log_error("%s %s: too many functions were loaded before it", option,
					  globs[g]);
				return -E2BIG;
			}
		}
		if (!found)
			log_warn("%s %s: no such function is traced, so far (-l tells why)", option,
				 globs[g]);
	}
	return 0;
}

/* Whether a function of that name may be loaded yet. */
static bool may_come(const struct run *r, const char *glob)
{
	const char *colon = strchr(glob, ':');

	return r->o->follow || (colon && colon != glob && colon[1] != ':');
}

static bool is_planned(const struct run *r, const char *glob)
{
	for (size_t i = 0; i < r->plan->functions_cnt; i++) {
		if (roles__is_named(r, i, glob))
			return true;
	}
	return false;
}

/* A function that the glob matches and that is in the plan without a probe; NULL: there is none. */
static const struct plan_skip *skipped(const struct run *r, const char *glob)
{
	for (size_t i = 0; i < r->plan->skipped_cnt; i++) {
		const struct plan_skip *skip = &r->plan->skipped[i];
		const struct profile_function named = {
			.name = plan__skip_name(r->plan, i),
			.symbol = skip->symbol,
			.module = r->target->objects[skip->object].path,
		};

		if (function_glob__matches(glob, &named))
			return skip;
	}
	return NULL;
}

/* " (all of those are of bash)", where the functions that are traced are of one file: the process
 * may be another one than was meant, as a shell that has begun the server. */
static char *name_file(const struct run *r, char *buf, size_t size)
{
	const struct plan *p = r->plan;
	uint32_t object = p->functions_cnt ? p->functions[0].object : 0;
	char name[NAME_MAX + 1];

	*buf = '\0';
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (p->functions[i].object != object)
			return buf;
	}
	if (p->functions_cnt)
		snprintf(buf, size, " (all of those are of %s)",
			 text_escape(path_base(r->target->objects[object].path), name,
				     sizeof(name)));
	return buf;
}

static int check_session(const struct run *r, const char *glob)
{
	char names[256], file[NAME_MAX + 64];
	const struct plan_skip *skip;

	if (is_planned(r, glob))
		return 0;
	skip = skipped(r, glob);
	if (skip) {
		log_error("--session %s: no function that is traced matches; not probed is %s: %s",
			  glob, skip->symbol, skip->reason);
		return -ENOENT;
	}
	if (may_come(r, glob)) {
		log_warn("--session %s: no such function is traced, so far (-l tells why)", glob);
		return 0;
	}
	unmatched__nearest(r->plan, glob, names, sizeof(names));
	log_error("--session %s: no function that is traced matches%s%s%s; -F chooses what is "
		  "traced, -l lists it",
		  glob, name_file(r, file, sizeof(file)), *names ? "; the nearest: " : "", names);
	return -ENOENT;
}

/* A name that changes nothing is most often misspelt, and the run would not show it. */
static void tell_in_vain(const struct run *r, const char *option, const char *glob,
			 const char *effect)
{
	bool later = glob__is_region(glob) || filter__wants_libraries(&r->selection.filter);
	char names[256];

	if (r->o->follow || (later && may_come(r, glob)))
		return;
	unmatched__nearest(r->plan, glob, names, sizeof(names));
	log_warn("%s %s: no function that would be traced matches, so it %s%s%s", option, glob,
		 effect, *names ? "; the nearest: " : "", names);
}

static void check_rest(const struct run *r)
{
	const struct options *o = r->o;
	const struct filter *f = &r->selection.filter;

	for (size_t g = 0; g < f->out_cnt; g++) {
		if (!f->out[g].matched)
			tell_in_vain(r, "-N", o->notraces[g], "leaves out nothing");
	}
	for (size_t g = 0; g < o->hists_cnt; g++) {
		if (!is_planned(r, o->hists[g]))
			tell_in_vain(r, "--hist", o->hists[g], "draws nothing");
	}
}

int roles__check(struct run *r)
{
	const struct options *o = r->o;
	int err = 0;

	for (size_t g = 0; !err && g < o->sessions_cnt; g++)
		err = check_session(r, o->sessions[g]);
	/* Functions of rules are among the filters (-F): which names are near has been said there.
	 */
	for (size_t g = 0; !err && g < o->slos_cnt; g++) {
		if (is_planned(r, o->slos[g].glob) || may_come(r, o->slos[g].glob))
			continue;
		log_error("--slo '%s': no function is watched by that rule%s", o->slos[g].text,
			  strchr(o->slos[g].glob, ':')
				  ? ""
				  : "; one of a library is named with its file: "
				    "--slo 'libz.so.1*:inflate: p99 < 5ms'");
		err = -ENOENT;
	}
	if (!err)
		check_rest(r);
	return err;
}

/* A request's handler whose calls end in a jump is a session of next to nothing, which nobody
 * expects who reads the source. */
static void tell_tail_calls(const struct run *r, const char *option, const char *glob)
{
	for (size_t i = r->roles_cnt; i < r->plan->functions_cnt; i++) {
		const struct plan_function *f = &r->plan->functions[i];

		if (f->kind != PLAN_FUNCTION || !tail_calls__end_unseen(r->plan, i) ||
		    !roles__is_named(r, i, glob))
			continue;
		log_warn("%s %s: %s can end by a jump to another function (a tail call), and its "
			 "session ends there: if sessions are too short, name that function",
			 option, glob, plan__name(r->plan, i));
		return;
	}
}

/* The budget does not drop the function. */
static int keep(void *ctx, size_t function)
{
	const struct run *r = ctx;

	return controller__keep(r->controller, function);
}

/* The budget drops none of these, and their calls last until they return. */
static int keep_whole(struct run *r, const char *option, const char *glob)
{
	int err = 0;

	for (size_t i = r->roles_cnt; i < r->plan->functions_cnt && !err; i++) {
		if (!roles__is_named(r, i, glob))
			continue;
		err = keep(r, i);
		if (!err && collector__add_role(r->collector, i, WIRE_ROLE_WHOLE))
			err = tail_calls__follow(r->plan, i, keep, r);
	}
	tell_tail_calls(r, option, glob);
	return err;
}

int roles__apply(struct run *r)
{
	const struct options *o = r->o;
	int err = give(r, "--trigger", o->triggers, o->triggers_cnt, WIRE_ROLE_TRIGGER);

	if (!err)
		err = give(r, "--until", o->untils, o->untils_cnt, WIRE_ROLE_UNTIL);
	for (size_t g = 0; !err && g < o->sessions_cnt; g++)
		err = keep_whole(r, "--session", o->sessions[g]);
	for (size_t i = 0; !err && i < o->links_cnt; i++)
		err = keep_whole(r, "--link", o->links[i].run);
	for (size_t g = 0; !err && g < o->slos_cnt; g++)
		err = keep_whole(r, "--slo", o->slos[g].glob);
	r->roles_cnt = r->plan->functions_cnt;
	return err;
}
