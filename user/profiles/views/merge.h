/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_VIEWS_MERGE_H
#define PROFTRACE_VIEWS_MERGE_H

struct profile;

/* Which threads become one. Call stacks of spans stay apart from others in any case. */
enum merge_by {
	MERGE_COMM,	  /* all that have the same comm */
	MERGE_PROGRAM,	  /* of one kind, in processes whose first threads are of one kind, too;
			     goroutines and threads apart */
	MERGE_PROCESS,	  /* of one kind, in one process; likewise */
	MERGE_CALLSTACKS, /* the call stacks of one thread, or of one goroutine */
};

/* Makes one thread of all that are alike: costs of equal paths are summed; single calls do not
 * go along, as what has run side by side does not nest. Threads without calls are left out; merged
 * threads are in the order of what they were merged by. Threads are of one kind if their names
 * differ by a number at the end at most (worker-1 and worker-17 are then "worker-*"). Needs
 * profile__connect(); *out is linked, and its functions keep the stats they have in `p`. Returns 0
 * or -errno. The caller frees *out. */
int profile__merge_threads(const struct profile *p, enum merge_by by, struct profile **out);

/* A thread with several stacks is recorded as several, its call stacks. Makes one thread of them,
 * paths at its root: replaces *p, if there is such a thread; sessions stay. Needs
 * profile__connect() and leaves *p linked; stats of functions are to be summed up anew. Returns 0
 * or -errno, *p still the caller's. */
int profile__join_callstacks(struct profile **p);

#endif
