/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fetches single waits from the rings of the CPUs. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_RING_READER_H
#define PROFTRACE_COLLECT_RING_READER_H

#include <stdint.h>

#include "collect/figures.h"
#include "timeline/stream.h"

struct bpf_tables;
struct drain;
struct file_names;
struct profile_accounting;

#define RING_BATCH 256 /* waits that are sent at once */

struct ring_reader {
	struct recorded_wait batch[RING_BATCH];
	size_t batch_cnt;
	variable_namer *name; /* NULL: objects have no names */
	void *ctx;
	struct file_names *files;
	uint64_t skipped; /* waits, by ring_reader__skip() */
	uint64_t torn;	  /* places that were not filled as they should be */
};

/* Sends what is new, with times from d->start_ns on. Returns 0 or -errno, logged. */
int ring_reader__poll(struct ring_reader *r, const struct bpf_tables *t, struct drain *d);

/* Passes over what is new. */
void ring_reader__skip(struct ring_reader *r, const struct bpf_tables *t);

void ring_reader__account(const struct ring_reader *r, const struct bpf_tables *t,
			  struct profile_accounting *a);

#endif
