/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How uncertain inclusive times are that come from samples. For diff.c. */
#ifndef PROFTRACE_DIFF_TOTAL_ERRORS_H
#define PROFTRACE_DIFF_TOTAL_ERRORS_H

struct profile;

/* Variances, in ns times periods, as call_stats::varied_ns. */
struct total_errors {
	double *nodes, *functions;
};

/* Of a profile that is linked. A call that was measured from entry to exit is not uncertain by
 * samples, whatever below it is; of others all below them adds up. Of recursion the outermost
 * counts. Returns 0 or -ENOMEM; *out is to be cleared in both cases. */
int total_errors__new(const struct profile *p, struct total_errors *out);

void total_errors__clear(struct total_errors *e);

#endif
