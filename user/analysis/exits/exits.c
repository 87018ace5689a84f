// SPDX-License-Identifier: GPL-2.0-or-later
#include "exits/exits.h"

#include "code/code.h"
#include "code/tiny.h"

static const char inspects[] = "looks at its return address";
static const char patched[] = "patched in memory: may change its return address";
static const char unknown[] = "has no name: it may look at its return address";

struct exit_choice exits__without_return(const struct code *code, const char *reason)
{
	if (code->bad)
		return (struct exit_choice){EXIT_NONE, code->bad};
	if (code->no_exits)
		return (struct exit_choice){EXIT_NONE, code->no_exits};
	if (code->patched)
		reason = patched;
	if (code->exits_missing)
		reason = "some exits may lie behind a jump table that cannot be read";
	return (struct exit_choice){EXIT_SITES, reason};
}

static struct exit_choice choose_forced(enum exit_strategy strategy, const struct code *code,
					enum deny_verdict deny)
{
	switch (strategy) {
	case EXIT_RETURN:
		if (code->patched)
			return exits__without_return(code, patched);
		if (deny != DENY_NOTHING)
			return exits__without_return(
				code, deny == DENY_UNKNOWN
					      ? "not --exits=return: has no name"
					      : "not --exits=return: looks at its return address");
		return (struct exit_choice){EXIT_RETURN, "--exits=return"};
	case EXIT_SITES:
		return exits__without_return(code, "--exits=sites");
	default:
		return (struct exit_choice){EXIT_NONE, "--exits=none"};
	}
}

bool exits__return_unsafe(const struct exit_context *ctx)
{
	return ctx->hazard || (ctx->traits & EXIT_UNSAFE_TRAITS);
}

bool exits__provable(const struct exit_context *ctx)
{
	return !ctx->forced && !ctx->hazard && !ctx->no_returns &&
	       (ctx->traits & (EXIT_UNSAFE_TRAITS | TRAIT_CANCELS)) &&
	       !(ctx->traits & (TRAIT_GO | TRAIT_SIGNALS));
}

unsigned exits__close_at_entry(const struct exit_context *ctx, const struct code *code,
			       struct exit_choice *exit)
{
	unsigned insns = ctx->forced ? 0 : tiny__returns_within(code);

	if (insns)
		*exit = (struct exit_choice){EXIT_NONE, "a leaf without loops: returns at once, so "
							"its entry ends the call"};
	return insns;
}

struct exit_choice exits__choose(const struct exit_context *ctx, const struct code *code,
				 enum deny_verdict deny)
{
	if (ctx->forced && !(ctx->crash && ctx->strategy == EXIT_RETURN))
		return choose_forced(ctx->strategy, code, deny);
	if (code->patched)
		return exits__without_return(code, patched);
	if (deny != DENY_NOTHING)
		return exits__without_return(code, deny == DENY_UNKNOWN ? unknown : inspects);
	if (ctx->crash || ctx->hazard)
		return exits__without_return(code, ctx->crash ? ctx->crash : ctx->hazard);
	if (ctx->no_returns)
		return exits__without_return(code, ctx->reason);
	if (!exits__return_unsafe(ctx))
		return (struct exit_choice){EXIT_RETURN, ctx->reason};
	/* Nothing can be unwound through a function that calls nothing, nor can the stack be
	 * switched under it, unless from a signal handler. Go has some of its own. */
	if (code->leaf && !(ctx->traits & (TRAIT_GO | TRAIT_SIGNALS)))
		return (struct exit_choice){EXIT_RETURN,
					    "calls nothing: cannot be unwound through"};
	return exits__without_return(code, ctx->reason);
}
