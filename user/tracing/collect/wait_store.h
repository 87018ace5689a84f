/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits that the kernel has added up by place: they come into the trees of samples. Inside collect/
 * only. */
#ifndef PROFTRACE_COLLECT_WAIT_STORE_H
#define PROFTRACE_COLLECT_WAIT_STORE_H

#include <stdint.h>

#include "wire.h"

struct bpf_tables;
struct profile_accounting;
struct sample_store;

/* What was read of a wait's place before. */
struct wait_seen {
	uint64_t woken_ns[WIRE_WAIT_WAKERS]; /* as struct wire_waker */
	uint32_t waker;	 /* function that stands for who has ended the wait; 0: not asked yet */
	uint32_t holder; /* function that stands for who has the lock; 0: nobody known so far */
	uint64_t slept_ns, ready_ns; /* that are in a tree: for its reason, and for a CPU */
	uint64_t cnt;		     /* when it was last asked whether the place is idle */
};

struct wait_store {
	struct wait_seen *seen; /* by place; NULL: none are kept */
	uint64_t freed;		/* places */
	uint32_t next;		/* place for wait_store__name_some() to go on at */
};

int wait_store__init(struct wait_store *w, const struct bpf_tables *t); /* 0 or -ENOMEM */
void wait_store__fini(struct wait_store *w);

/* Adds what is new to the trees; of waits that last, up to `now_ns` (0: nothing). Returns 0,
 * -ENOMEM, or what the resolver returned. */
int wait_store__read(struct wait_store *w, struct sample_store *s, const struct bpf_tables *t,
		     uint64_t now_ns);
/* Adds what is new of places that are in no tree so far, as that looks up their names: of an eighth
 * of the table, for some 20 ms at most. Called ten times a second, it leaves wait_store__read()
 * little to look up. Returns as that. */
int wait_store__name_some(struct wait_store *w, struct sample_store *s, const struct bpf_tables *t);
/* A few times a second: frees idle places if there are too many. Returns as that. */
int wait_store__poll(struct wait_store *w, struct sample_store *s, const struct bpf_tables *t);

/* No program runs any more, or none sees switches: ends the waits that last, as of `at_ns`. */
void wait_store__end(const struct bpf_tables *t, uint64_t at_ns);
/* Forgets all, when no program runs. */
void wait_store__clear(struct wait_store *w, const struct bpf_tables *t);

uint64_t wait_store__taken(const struct bpf_tables *t); /* how many have begun so far */
void wait_store__account(const struct bpf_tables *t, struct profile_accounting *a);

#endif
