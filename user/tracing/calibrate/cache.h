/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps what was measured until the next boot. Inside calibrate/ only. */
#ifndef PROFTRACE_CALIBRATE_CACHE_H
#define PROFTRACE_CALIBRATE_CACHE_H

#include <stdbool.h>

#define CACHE_MAX_SPREAD 0.1 /* figures that are more uncertain are not kept */

struct probe_costs;

/* `programs` names what was measured: a backend, and what its programs do at calls. False, with
 * *out all zero: nothing is known, or not of this kernel and program. Only a file that root alone
 * can have written is believed. */
bool cache__read(const char *directory, const char *programs, struct probe_costs *out);

/* Makes the directory if need be, but not its parents. Where that cannot be, or the figures are
 * more uncertain than CACHE_MAX_SPREAD, it is measured again the next time. */
void cache__write(const char *directory, const char *programs, const struct probe_costs *costs);

#endif
