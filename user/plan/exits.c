// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/exits.h"

#include "plan/code.h"

struct exit_choice exits__choose(const struct exit_context *ctx, const struct code *code,
				 enum deny_verdict deny)
{
	if (deny == DENY_NOTHING && !ctx->no_returns) {
		if (!(ctx->traits & EXIT_UNSAFE_TRAITS))
			return (struct exit_choice){EXIT_RETURN, ctx->reason};
		/* Nothing can be unwound through a function that calls nothing, nor can the stack
		 * be switched under it, unless from a signal handler. Go has some of its own. */
		if (code->leaf && !(ctx->traits & (TRAIT_GO | TRAIT_SIGNALS)))
			return (struct exit_choice){EXIT_RETURN,
						    "calls nothing: cannot be unwound through"};
	}
	if (code->bad)
		return (struct exit_choice){EXIT_NONE, code->bad};
	if (code->no_exits)
		return (struct exit_choice){EXIT_NONE, code->no_exits};
	return (struct exit_choice){
		EXIT_SITES, deny == DENY_NOTHING ? ctx->reason : "looks at its return address"};
}
