/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How uncertain inclusive times are that come from samples. For diff.c. */
#ifndef PROFTRACE_DIFF_TOTAL_ERRORS_H
#define PROFTRACE_DIFF_TOTAL_ERRORS_H

struct profile;

/* Variances, in ns times periods, as call_stats::varied_ns. */
struct total_errors {
	double *nodes, *functions;
};

/* Computes errors of total times in a linked profile. The total of a call that was measured from
 * entry to exit has no error from samples, whatever is below it; for others the errors of all calls
 * below add up. For recursion the outermost call counts. Returns 0 or -ENOMEM; *out is to be
 * cleared in both cases. */
int total_errors__new(const struct profile *p, struct total_errors *out);

void total_errors__clear(struct total_errors *e);

#endif
