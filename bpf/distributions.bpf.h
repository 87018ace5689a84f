/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the calls of each function took: counts in log-linear buckets, see struct wire_dist. */
#ifndef PROFTRACE_DISTRIBUTIONS_BPF_H
#define PROFTRACE_DISTRIBUTIONS_BPF_H

#include "tables.bpf.h"

u64 undistributed = 0; /* calls for which there was no room */

/* The number of the highest bit that is set; v is not 0. There are 64 ways through it, so it is a
 * global function: the verifier takes them once, and not wherever a call may end. */
__noinline u32 highest_bit(u64 v)
{
	u32 n = 0;

#pragma clang loop unroll(full)
	for (u32 step = 32; step; step >>= 1) {
		if (v >> step) {
			v >>= step;
			n += step;
		}
	}
	return n;
}

/* The entry for a key whose first place is taken by another. 0: no room; else its number plus 1. */
__noinline u32 dist_search(u64 key, u32 first)
{
	for (u32 i = 0; i < WIRE_DIST_PROBES; i++) {
		u32 at = (first + i) & dists_mask;
		struct wire_dist *d = bpf_map_lookup_elem(&dists, &at);
		u64 old = d ? d->key : ~0ull;

		if (d && !old)
			old = SWAP_IF(&d->key, 0, key) ? key : d->key;
		if (d && old == key)
			return at + 1;
	}
	return 0;
}

/* Counts calls of one duration. Other threads count in the same entry, hence the atomic addition;
 * but hardly ever from other CPUs. */
static __always_inline void dist_add(u32 function, u64 ns, u32 calls)
{
	u32 octave = 0, bucket = ns, shard = bpf_get_smp_processor_id() % WIRE_DIST_SHARDS, at;
	struct wire_dist *d;
	u64 key;

	if (ns >= 8) {
		u32 bit = highest_bit(ns);

		octave = bit - 2;
		bucket = ns >> (bit - 3);
	}
	key = WIRE_DIST_KEY(function, shard, octave);
	at = WIRE_DIST_HASH(key) & dists_mask;
	d = bpf_map_lookup_elem(&dists, &at);
	if (!d || d->key != key) {
		at = dist_search(key, at);
		at--;
		d = bpf_map_lookup_elem(&dists, &at);
	}
	if (d)
		__sync_fetch_and_add(&d->calls[bucket & 7], calls);
	else
		__sync_fetch_and_add(&undistributed, calls);
}

#endif
