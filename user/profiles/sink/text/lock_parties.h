/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who waits for locks, and who releases them. Inside sink/text/ only. */
#ifndef PROFTRACE_SINK_TEXT_LOCK_PARTIES_H
#define PROFTRACE_SINK_TEXT_LOCK_PARTIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "timeline/lock_kinds.h"

struct profile;

#define PATH_SIZE  400
#define LABEL_SIZE 128

/* One of a lock's waiters, or of those who have released it. */
struct party {
	uint64_t lock; /* a number that tells locks apart: an address, or another one */
	pid_t pid;     /* whose lock it is: addresses are each process's own */
	enum lock_kind kind;
	bool releases; /* it releases the lock, or is to */
	bool holds;    /* it had the lock when the run began, and has it still */
	uint32_t role; /* of an rwlock's waiter, enum wait_object; WAIT_OBJECT_NONE: not known */
	uint64_t ns;
	uint64_t cnt, longest_ns; /* waits; 0: not known */
	uint64_t held_ns;	  /* of all of the lock: see single_locks__add() */
	char label[LABEL_SIZE];	  /* the lock's name: "0x5581a0", "table_lock" */
	char name[PATH_SIZE];
};

struct parties {
	struct party *all;
	size_t cnt, cap;
};

/* Appends the parties of single waits. A lock is known to be held while somebody waits for it who
 * is then woken by somebody else: held_ns is how long that was, however many wait. Returns 0 or
 * -ENOMEM. */
int single_locks__add(struct parties *t, const struct profile *p);

#endif
