// SPDX-License-Identifier: GPL-2.0-or-later
#include "planner/return_crash.h"

#include "exits/exits.h"
#include "plan/exit_strategy.h"
#include "plan/object.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "planner/planning.h"
#include "planner/return_claim.h"
#include "target/target.h"
#include "util/log.h"
#include "util/text.h"

static const char of_others[] = "another run has return probes there, and this kernel may crash "
				"where two have";
static const char of_tools[] =
	"another tool has had return probes in the target, and this kernel may "
	"crash where two have";
static const char of_bound[] = "bound to its process, and this kernel may crash where two such "
			       "links want one return";
static const char of_events[] = "this kernel may crash where two trace events want one return";

/* Whether return probes are wanted at all, as far as can be told before functions are looked at. */
static bool may_want(const struct exit_context *exits)
{
	if (exits->forced)
		return exits->strategy == EXIT_RETURN;
	return !exits->hazard && !exits->no_returns;
}

void return_crash__look(const struct planning *pn, uint32_t index)
{
	const struct target_object *obj = &pn->target->objects[index];
	struct plan_object *planned = &pn->plan->objects[index];
	bool ours;

	if (!pn->target->lists_returns || planned->crash || planned->claimed ||
	    !may_want(pn->exits))
		return;
	if (pn->opts->trace_events) {
		planned->crash = of_events;
		return;
	}
	ours = pn->opts->attaches ? return_claim__take(obj->fd) : return_claim__is_free(obj->fd);
	planned->claimed = ours && pn->opts->attaches;
	if (ours)
		return;
	planned->crash = of_others;
	/* If return probes are unsafe in this target anyway, few functions would have had any. */
	if (!exits__return_unsafe(pn->exits))
		log_info("%s has return probes of another run already: exits are seen at their "
			 "sites, which costs more",
			 path_base(obj->path));
}

static bool has_returns(const struct plan *p, uint32_t object)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (p->functions[i].object == object && p->functions[i].exit == EXIT_RETURN)
			return true;
	}
	return false;
}

bool return_crash__if_bound(struct plan *p, const struct target *t, const struct plan_options *opts,
			    uint32_t object)
{
	/* A single link that wants returns makes no list. */
	if (!t->lists_returns || !opts->returns_stop || !has_returns(p, object))
		return false;
	/* Old and new links are beside each other while functions are dropped. */
	if (!p->may_fork && t->objects[object].processes_cnt < 2)
		return false;
	p->objects[object].crash = of_bound;
	return true;
}

void return_crash__of_tools(struct plan *p)
{
	for (size_t i = 0; i < p->objects_cnt; i++)
		p->objects[i].crash = of_tools;
}

void return_crash__release(struct plan *p, const struct target *t)
{
	for (size_t i = 0; i < p->objects_cnt; i++) {
		if (!p->objects[i].claimed || has_returns(p, i))
			continue;
		return_claim__give_back(t->objects[i].fd);
		p->objects[i].claimed = false;
	}
}
