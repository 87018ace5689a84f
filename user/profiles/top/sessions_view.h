/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside top/ only. */
#ifndef PROFTRACE_TOP_SESSIONS_VIEW_H
#define PROFTRACE_TOP_SESSIONS_VIEW_H

struct canvas;
struct top;

/* Draws how many sessions of each kind there were, and how long they took. Returns 0 or -ENOMEM. */
int sessions_view__draw(struct top *t, struct canvas *c);

#endif
