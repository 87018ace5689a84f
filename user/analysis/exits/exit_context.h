/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dangers to return addresses in a target: whether return probes are safe in it. */
#ifndef PROFTRACE_EXITS_EXIT_CONTEXT_H
#define PROFTRACE_EXITS_EXIT_CONTEXT_H

struct exit_context;
struct plan;
struct plan_object;
struct plan_options;
struct target;

/* Collects the traits of everything that the target maps; of a process not known yet all of them.
 * The reason is the plan's, which notes whether return probes rely on makecontext(). */
void exit_context__make(struct plan *p, const struct target *t, const struct plan_options *opts,
			struct exit_context *ctx);

/* The context for the functions of one object: libc has cleanups of its own. */
struct exit_context exit_context__of(const struct exit_context *all, const struct plan_object *obj);

/* --exits (`name`; NULL: not given), with a warning where that is dangerous, once a plan. */
void exit_context__force(struct plan *p, const char *name, struct exit_context *ctx);

#endif
