/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Choosing what a look looks at: its functions, which become the list of struct bursts, and the
 * process that a burst takes place in. Inside bursts/ only.
 */
#ifndef PROFTRACE_BURSTS_LOOK_LIST_H
#define PROFTRACE_BURSTS_LOOK_LIST_H

#include <stdbool.h>

struct bursts;

/* The functions of a window: those that were counted least. Returns 0 or -ENOMEM. */
int look_list__window(struct bursts *b);

/* The functions of a wide window: b->list_cnt is 0 if it would be of no use. Returns 0 or -ENOMEM.
 */
int look_list__wide(struct bursts *b);

/* The functions of a burst: all that are dropped, or as many in turn as there may be probes. Sets
 * how many *probes these have in a process. Returns 0 or -ENOMEM. */
int look_list__burst(struct bursts *b, bool in_one, double *probes);

/* The number of probes in the first burst; 0: it has been taken, later ones are due by what bursts
 * have cost. */
double look_list__first_probes(const struct bursts *b);

/* The number of processes, each of which a probe is put into. */
double look_list__processes(const struct bursts *b);

/* Whether a burst takes place in one process, which stands for all. */
bool look_list__is_in_one(const struct bursts *b);

/* Chooses that process: b->stand_ins, which stand_ins__clear() takes. Returns 0 or -ENOMEM. */
int look_list__choose_process(struct bursts *b);

#endif
