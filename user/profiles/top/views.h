/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside top/ only. */
#ifndef PROFTRACE_TOP_VIEWS_H
#define PROFTRACE_TOP_VIEWS_H

struct canvas;
struct top;

/* Draws what is shown, between the first and the last line. Returns 0 or -ENOMEM. */
int views__draw(struct top *t, struct canvas *c);

#endif
