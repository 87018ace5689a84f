/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_VIEWS_RANGE_H
#define PROFTRACE_VIEWS_RANGE_H

struct profile;
struct time_range;

/*
 * Makes of a profile what it were if it had been taken in this range of its time alone, as far as
 * its single calls tell:
 *
 * - A call counts if it has a part in the range; its times are that part's. One that goes on beyond
 *   the range's end, or was open at the run's, is open; all others count as returned, as it is not
 *   known of single calls if they were unwound. What else the accounts say stays that of the run.
 * - Waiting in a call that lies in the range in part is divided like its time.
 * - Raw times are as measured. From each path's time on the CPU what its probes cost is taken on
 *   the run's average: by as much of it, on that path, as in the whole run. Errors likewise.
 * - Minima, maxima and distributions are of finished calls that lie in the range as a whole.
 * - Kept calls of a sampled function stand for the others from its drop on, as in the run.
 * - Paths without calls in the range go; functions and threads stay. Drops that came later go, and
 *   those that came before are at its beginning.
 *
 * The timeline shows the range. Needs p->timeline and profile__connect(), leaves *p linked; stats
 * of functions are to be summed up anew. Time: linear in the calls up to the range's end. Returns
 * 0; -ERANGE if the run had ended before the range begins; -EINVAL if calls are of no path;
 * -ENOMEM; or the timeline's error. After all but -ERANGE *p is good for nothing but
 * profile__free().
 */
int profile__cut(struct profile *p, const struct time_range *range);

#endif
