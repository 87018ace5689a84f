/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One window: functions are counted by their entries. Inside bursts/ only. */
#ifndef PROFTRACE_BURSTS_WINDOW_H
#define PROFTRACE_BURSTS_WINDOW_H

struct bursts;

/* Takes a window of a few functions, 6 ms long, and adds its counts to the rates. Returns 0 or
 * -ENOMEM. */
int window__take(struct bursts *b);

/* Takes a window of a few functions or a wide one, in turns. Returns 0 or -ENOMEM. */
int window__take_any(struct bursts *b);

#endif
