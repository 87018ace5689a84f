/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside top/ only. */
#ifndef PROFTRACE_TOP_VIEWS_H
#define PROFTRACE_TOP_VIEWS_H

struct canvas;
struct top;

#define VIEW_FIRST_ROW	2 /* of the canvas; above it is the target's line, and a free one */
#define VIEW_ROWS_BELOW 1 /* the line of keys */

/* Draws what is shown, between the first and the last line. Returns 0 or -ENOMEM. */
int views__draw(struct top *t, struct canvas *c);

#endif
