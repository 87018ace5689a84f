/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the estimated calls of a function are shared by its paths: each has its part of those calls,
 * or samples, that were seen with their path. A path that one call of one was seen on has all of
 * them, and next to nothing is known of its share.
 */
#ifndef PROFTRACE_SAMPLE_PATH_SHARE_H
#define PROFTRACE_SAMPLE_PATH_SHARE_H

/* The mean square of the difference between seen / of and the path's true share of its function's
 * calls; 0 < seen <= of. */
double path_share__variance(double seen, double of);

#endif
