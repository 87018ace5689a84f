/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One burst: dropped functions are recorded, with their paths and times. Inside bursts/ only. */
#ifndef PROFTRACE_BURSTS_BURST_H
#define PROFTRACE_BURSTS_BURST_H

#include <stdbool.h>
#include <stdint.h>

struct bursts;

/* Takes a burst, and adds its counts to the rates; `now`: CLOCK_MONOTONIC, `after_window`: right
 * after a window. Returns 0 or -ENOMEM. */
int burst__take(struct bursts *b, uint64_t now, bool after_window);

#endif
