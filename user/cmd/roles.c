// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/roles.h"

#include <errno.h>

#include "calls/function_glob.h"
#include "calls/profile.h"
#include "cli/options.h"
#include "cmd/run.h"
#include "collect/collector.h"
#include "plan/plan.h"
#include "target/target.h"
#include "util/log.h"
#include "wire.h"

/* Functions from the place on that one of these globs matches get the role. */
static int give(struct run *r, const char *option, char *const *globs, size_t cnt, uint32_t role)
{
	for (size_t g = 0; g < cnt; g++) {
		bool found = r->roles_cnt > 0;

		for (size_t i = r->roles_cnt; i < r->plan->functions_cnt; i++) {
			struct plan_function *f = &r->plan->functions[i];
			const struct profile_function named = {
				.name = plan__name(f),
				.symbol = f->symbol,
				.aliases = f->aliases,
				.aliases_cnt = f->aliases_cnt,
				.module = r->target->objects[f->object].path,
				.kind = f->kind == PLAN_FUNCTION ? FUNCTION_PLAIN : FUNCTION_REGION,
			};

			if (!function_glob__matches(globs[g], &named))
				continue;
			found = true;
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

int roles__apply(struct run *r)
{
	const struct options *o = r->o;
	int err = give(r, "--trigger", o->triggers, o->triggers_cnt, WIRE_ROLE_TRIGGER);

	if (!err)
		err = give(r, "--until", o->untils, o->untils_cnt, WIRE_ROLE_UNTIL);
	r->roles_cnt = r->plan->functions_cnt;
	return err;
}
