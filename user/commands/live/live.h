/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `proftrace top`: the live view on a terminal, fed by a run. */
#ifndef PROFTRACE_LIVE_LIVE_H
#define PROFTRACE_LIVE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "top/top.h"

struct live;
struct profile;

/* Takes the terminal and shows an empty table; messages go to the screen's last line from then on,
 * and, those that are not of level info, to stderr when the terminal is given back. `whom` is
 * copied. Returns 0, or -errno with one line logged. */
int live__new(const char *whom, struct live **out);

/* Like live__new(), for all processes of the machine: see top__machine(). */
int live__machine(const char *whom, struct live **out);
/* See top__sessions(). */
void live__sessions(struct live *l, char *const *globs, size_t cnt);
/* The process that was chosen. */
pid_t live__opened(const struct live *l);
/* Esc leads back to all processes: the wish is TOP_LEAVE then. */
void live__nest(struct live *l);

/* Gives the terminal back. Accepts NULL, as all that follow but live__take() do. */
void live__stop(struct live *l);
void live__free(struct live *l);

/* Shows what is new: `now` is all that was found so far, linked, and the live view's from now on,
 * also if that fails. Returns 0 or -ENOMEM. */
int live__take(struct live *l, struct profile *now);

/* Whether threads that have ended are to be forgotten now, as they would become too many: what
 * follows is compared with the last profile alone then. To be asked after each live__take(). */
bool live__forgets(struct live *l);

/* Does what keys ask for that are there, or what a new size of the terminal does. *wish = what the
 * run is to do; then there may be more keys. Returns 0 or -ENOMEM. */
int live__keys(struct live *l, enum top_wish *wish);

/* The function that is looked at closely, by its index; UINT32_MAX: none is. */
uint32_t live__zoomed(const struct live *l);

/* Tells whether tracing is switched off. */
void live__tell_off(struct live *l, bool off);

/* *out = what was found in the last minute; `now` is all so far. The caller frees it. Returns 0 or
 * -ENOMEM. */
int live__last_minute(const struct live *l, const struct profile *now, struct profile **out);

#endif
