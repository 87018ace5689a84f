/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a target can do to return addresses: whether return probes are safe in it. Inside plan/
 * only. */
#ifndef PROFTRACE_PLAN_EXIT_CONTEXT_H
#define PROFTRACE_PLAN_EXIT_CONTEXT_H

struct exit_context;
struct plan;
struct plan_object;
struct plan_options;
struct target;

/* What everything the target maps can do to return addresses; so can a process not known yet. The
 * reason is the plan's, which notes whether return probes rely on makecontext(). */
void exit_context__make(struct plan *p, const struct target *t, const struct plan_options *opts,
			struct exit_context *ctx);

/* The context for the functions of one object: libc has cleanups of its own. */
struct exit_context exit_context__of(const struct exit_context *all, const struct plan_object *obj);

/* --exits (`name`; NULL: not given), with a warning where that is dangerous, once a plan. */
void exit_context__force(struct plan *p, const char *name, struct exit_context *ctx);

#endif
