/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much dearer probes are than is reckoned, which is calls times what a call has cost in
 * calibration. There the probes' code and data are in the caches, as the call is made again and
 * again; a server's event loop comes by every 0.5 ms and finds them gone, and on a virtual machine
 * each single step may be an exit to the host. Samples tell: of 940 that have met the target 19
 * have met a probe at work, so probes have 2 % of its CPU time, where 1 % was reckoned.
 */
#ifndef PROFTRACE_BUDGET_DEARNESS_H
#define PROFTRACE_BUDGET_DEARNESS_H

struct samples_so_far;

/*
 * How many times as dear as reckoned probes are, from 1 to 4: `reckoned` is the share of the
 * target's CPU time that they are reckoned to have had. Few samples say little: the answer is near
 * 1 until some ten of them should have met a probe, or have.
 */
double dearness__times(const struct samples_so_far *met, double reckoned);

#endif
