// SPDX-License-Identifier: GPL-2.0-or-later
#include "exits/exit_context.h"

#include <stdio.h>
#include <string.h>

#include "exits/exits.h"
#include "plan/object.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "target/target.h"
#include "util/log.h"
#include "util/text.h"

/* Says why return probes are dangerous here: what was found first, unless this is `graver`. */
static void blame(struct plan *p, struct exit_context *ctx, const char *path, const char *what,
		  const char *evidence, bool graver)
{
	if (ctx->reason == p->why && !graver)
		return;
	snprintf(p->why, sizeof(p->why), "%s %s (%s)", path_base(path), what,
		 evidence ? evidence : "?");
	ctx->reason = p->why;
}

static bool is_deadly(const struct exit_context *ctx)
{
	return ctx->traits & EXIT_DEADLY_TRAITS;
}

static const char *what_it_does(const struct plan_object *obj, unsigned traits)
{
	if (!obj->img)
		return "may unwind or switch stacks";
	return traits & EXIT_DEADLY_TRAITS ? "can unwind or switch stacks"
					   : "lists its callers, perhaps in the log of a crash";
}

/* Adds what an object does by its own code. */
static void add_object(struct plan *p, struct exit_context *ctx, const struct plan_object *obj,
		       const struct target_object *mapped, bool contexts_end_returns)
{
	unsigned traits = obj->traits;

	if ((traits & TRAIT_UCONTEXT) && contexts_end_returns && mapped->watched)
		p->contexts_guarded = true;
	else if (traits & TRAIT_UCONTEXT)
		traits |= TRAIT_SWITCHES;
	if (traits & EXIT_UNSAFE_TRAITS)
		blame(p, ctx, mapped->path, what_it_does(obj, traits), obj->evidence,
		      (traits & EXIT_DEADLY_TRAITS) && !is_deadly(ctx));
	ctx->traits |= traits;
}

/* Adds what an object may bring about while the target runs: for return probes that cannot be
 * stopped in time. */
static void add_later(struct plan *p, struct exit_context *ctx, const struct plan_object *obj,
		      const char *path)
{
	if (obj->traits & TRAIT_LOADS) {
		blame(p, ctx, path, "may load code that unwinds", "dlopen", !is_deadly(ctx));
		ctx->traits |= TRAIT_UNWINDS | TRAIT_SIGNALS;
	}
	/* The kernel takes returns pending on a lower stack for dead, and forgets them. */
	if (obj->traits & TRAIT_ALTSTACK) {
		blame(p, ctx, path, "handles signals on another stack", "sigaltstack",
		      !is_deadly(ctx));
		ctx->traits |= TRAIT_SWITCHES;
	}
}

/* Adds that cancelling a thread unwinds it, where an object has cleanups to run then. */
static void add_cancelled(struct plan *p, struct exit_context *ctx, const struct target *t)
{
	for (size_t i = 0; i < p->objects_cnt; i++) {
		if (p->objects[i].traits & TRAIT_LIBC || !(p->objects[i].traits & TRAIT_CLEANS))
			continue;
		blame(p, ctx, t->objects[i].path, "cleans up when a thread is cancelled",
		      "__gcc_personality_v0", !is_deadly(ctx));
		ctx->traits |= TRAIT_UNWINDS;
	}
}

void exit_context__make(struct plan *p, const struct target *t, const struct plan_options *opts,
			struct exit_context *ctx)
{
	const bool stop = opts->returns_stop && !p->loads_unseen;
	const bool contexts_end_returns = opts->returns_stop && !opts->contexts_made &&
					  hooks__have(p->hooks, p->hooks_cnt, HOOK_MAKECONTEXT);

	*ctx = (struct exit_context){.reason = "nothing mapped unwinds or switches stacks",
				     .hazard = t->hazard};
	p->contexts_guarded = false;
	for (size_t i = 0; i < p->objects_cnt; i++) {
		if (p->objects[i].traits & TRAIT_LIBC)
			continue;
		add_object(p, ctx, &p->objects[i], &t->objects[i], contexts_end_returns);
		if (!stop)
			add_later(p, ctx, &p->objects[i], t->objects[i].path);
	}
	if (ctx->traits & TRAIT_CANCELS)
		add_cancelled(p, ctx, t);
	if (p->contexts_guarded && !(ctx->traits & EXIT_UNSAFE_TRAITS))
		ctx->reason = "nothing mapped unwinds, nor switches stacks before makecontext()";
	if (!t->processes_cnt || (opts->anybody && !opts->returns_stop)) {
		if (!is_deadly(ctx))
			ctx->reason = "any process may map it, also one that unwinds";
		ctx->traits |= TRAIT_UNWINDS | TRAIT_SIGNALS;
	}
}

struct exit_context exit_context__of(const struct exit_context *all, const struct plan_object *obj)
{
	struct exit_context ctx = *all;

	if ((obj->traits & TRAIT_LIBC) && (all->traits & TRAIT_CANCELS) &&
	    !(all->traits & EXIT_UNSAFE_TRAITS)) {
		ctx.traits |= TRAIT_UNWINDS;
		ctx.reason = "libc cleans up when a thread is cancelled";
	}
	return ctx;
}

void exit_context__force(struct plan *p, const char *name, struct exit_context *ctx)
{
	for (int s = 0; name && s < EXIT_STRATEGIES; s++) {
		if (!strcmp(name, exit_strategy__name(s))) {
			ctx->forced = true;
			ctx->strategy = s;
		}
	}
	if (!ctx->forced || ctx->strategy != EXIT_RETURN || !exits__return_unsafe(ctx) ||
	    p->force_warned)
		return;
	if (ctx->hazard || is_deadly(ctx))
		log_warn("--exits=return may kill the target: %s",
			 ctx->hazard ? ctx->hazard : ctx->reason);
	else
		log_warn(
			"--exits=return cuts short the lists of callers that the target prints: %s",
			ctx->reason);
	p->force_warned = true;
}
