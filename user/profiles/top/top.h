/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view (`proftrace top`): what was new in the last seconds, as tables that keys sort,
 * search and open. It draws on a canvas and is told keys; it knows no terminal, and no run.
 */
#ifndef PROFTRACE_TOP_TOP_H
#define PROFTRACE_TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct canvas;
struct profile;
struct top;

/* Keys that are no characters; all others are Unicode code points. */
enum top_key {
	TOP_KEY_UP = 0x110000,
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
	TOP_KEY_BACKSPACE,
};

/* A key's effect on the run. */
enum top_wish {
	TOP_NOTHING,
	TOP_QUIT,
	TOP_SWITCH,   /* tracing off, or on again */
	TOP_SAVE,     /* a recording of the last minute */
	TOP_ZOOM,     /* the function that top__zoomed() names and its callees are to be exact */
	TOP_ZOOM_ALL, /* the same, whatever that costs */
	TOP_RELEASE,  /* no function is to be exact any more */
	TOP_OPEN,     /* the process that top__opened() names is to be shown */
	TOP_LEAVE,    /* back to all processes */
};

/* `whom`: what the target is called in the first line; copied. NULL: no memory. */
struct top *top__new(const char *whom);
/* Like top__new(), for all processes of the machine: each is a thread of the profiles, and Enter
 * opens one. */
struct top *top__machine(const char *whom);
/* Whose calls are sessions: functions that one of the GLOBs matches. Borrowed. */
void top__sessions(struct top *t, char *const *globs, size_t cnt);
pid_t top__opened(const struct top *t);
/* Esc leads back to all processes in the end. */
void top__nest(struct top *t);
void top__free(struct top *t); /* accepts NULL */

/* Takes what is known after the next interval: all of the run so far, summarized; and what is new
 * in it since some seconds ago, linked and summarized, which is the live view's from now on, also
 * if that fails. Returns 0 or -ENOMEM. */
int top__take(struct top *t, const struct profile *now, struct profile *delta);

/* Messages beside the tables. `off`: tracing is switched off. */
void top__tell_off(struct top *t, bool off);
void top__message(struct top *t, const char *message); /* copied */

enum top_wish top__key(struct top *t, uint32_t key);
/* The function that is looked at closely, by its index; UINT32_MAX: none is. */
uint32_t top__zoomed(const struct top *t);

/* Draws everything. Returns 0 or -ENOMEM. */
int top__draw(struct top *t, struct canvas *c);

#endif
