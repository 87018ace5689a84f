/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the calls of each function took: counts in log-linear buckets, see struct wire_dist. */
#ifndef PROFTRACE_DISTRIBUTIONS_BPF_H
#define PROFTRACE_DISTRIBUTIONS_BPF_H

#include "tables.bpf.h"

/* Without branches, so that the verifier has one way to walk, and not 64; and a global function, so
 * that it takes that once. */
__noinline u32 highest_bit_of_many(u64 v)
{
	u32 n = 0;

#pragma clang loop unroll(full)
	for (u32 step = 32; step; step >>= 1) {
		u64 some = (0 - (v >> step)) >> 63; /* 1 if a bit above is set */

		asm volatile("" : "+r"(some));
		v >>= some * step;
		n += some * step;
	}
	return n;
}

#define BITS_4(N)  N, N, N, N
#define BITS_16(N) BITS_4(N), BITS_4(N), BITS_4(N), BITS_4(N)
#define BITS_64(N) BITS_16(N), BITS_16(N), BITS_16(N), BITS_16(N)

static const u8 bit_of_byte[256] = {0,		0,	    1,		1,	    BITS_4(2),
				    BITS_4(3),	BITS_4(3),  BITS_16(4), BITS_16(5), BITS_16(5),
				    BITS_64(6), BITS_64(7), BITS_64(7)};

/* The number of the highest bit of a byte, say 6 for 0x5a. Verifiers of Linux 5.10 to 6.12 do not
 * conclude from a comparison of 64 bits that v is below 256, so the byte is cut out anew. */
static __always_inline u32 bit_of(u32 byte)
{
	asm volatile("" : "+r"(byte));
	return bit_of_byte[byte & 0xff];
}

/* The number of the highest bit that is set; v is not 0. */
static __always_inline u32 highest_bit(u64 v)
{
	if (v < 1 << 8)
		return bit_of(v);
	if (v < 1 << 16)
		return 8 + bit_of(v >> 8);
	return highest_bit_of_many(v);
}

/* A global function, which the verifier looks at once: where it walks the rounds of loops, it is to
 * be the body of one; elsewhere that is a function already, so it is to be what has one. No more
 * than eight may be open at a time. */
#ifdef PROFTRACE_BASIC
#define ONCE_IF_WALKED __noinline
#define ONCE_UNLESS_WALKED static __always_inline
#else
#define ONCE_IF_WALKED static __always_inline
#define ONCE_UNLESS_WALKED __noinline
#endif

/* The place that a key has to itself, if the index is as large as is wanted: see dists_wanted(). */
static __always_inline u32 dist_own_place(u64 key)
{
	u32 line = WIRE_DIST_FUNCTION(key) * (dists_shares_mask + 1) + WIRE_DIST_CPU(key);

	return line * WIRE_DIST_OCTAVES + WIRE_DIST_OCTAVE(key) % WIRE_DIST_OCTAVES;
}

/* A search for the entry of a key. */
struct dist_search {
	u64 key;
	u32 made;  /* entry that was made for want of one */
	u32 found; /* its number; 0: no room */
};

/* Makes an entry; false: no room. */
static __always_inline bool dist_made(struct dist_search *q)
{
	u64 *key;

	if (q->made)
		return true;
	if (next_dist >= dists_cap)
		return false;
	q->made = next_number(&next_dist);
	key = bpf_map_lookup_elem(&dist_keys, &q->made);
	if (!key)
		return false;
	*key = q->key;
	return true;
}

static long dist_seek(u32 i, struct dist_search *q)
{
	u32 at = (i ? WIRE_DIST_HASH(q->key) + i : dist_own_place(q->key)) & (dists_cap - 1);
	u64 *place = bpf_map_lookup_elem(&dist_index, &at), word;

	if (!place)
		return 1;
	if (!*(volatile u64 *)place) {
		if (!dist_made(q))
			return 1;
		(void)SWAP_IF(place, 0, WIRE_DIST_WORD(q->key, q->made));
	}
	word = *(volatile u64 *)place;
	if (word >> 24 != q->key)
		return 0;
	q->found = WIRE_DIST_NUMBER(word);
	return 1;
}

/* The entry for a key whose own place is not its, as there is none yet or another is there. 0: no
 * room. */
ONCE_IF_WALKED u32 dist_search(u64 key)
{
	struct dist_search q = {.key = key};

	LOOP(WIRE_DIST_PROBES, dist_seek, &q);
	return q.found;
}

/* Counts calls of one duration. A thread that was preempted here goes on counting in the same entry
 * as others, maybe from another CPU, hence the atomic addition. */
ONCE_UNLESS_WALKED u32 dist_add(u32 function, u64 ns, u32 calls)
{
	u32 octave = 0, bucket = ns, cpu = bpf_get_smp_processor_id() & dists_shares_mask, at;
	struct wire_dist *d;
	u64 key, *place;

	if (ns >= 8) {
		u32 bit = highest_bit(ns);

		octave = bit - 2;
		bucket = ns >> (bit - 3);
	}
	key = WIRE_DIST_KEY(function, cpu, octave);
	at = dist_own_place(key) & (dists_cap - 1);
	place = bpf_map_lookup_elem(&dist_index, &at);
	at = place && *place >> 24 == key ? WIRE_DIST_NUMBER(*place) : dist_search(key);
	d = bpf_map_lookup_elem(&dists, &at);
	if (at && d)
		__sync_fetch_and_add(&d->calls[bucket & 7], calls);
	else
		TALLY(undistributed, calls);
	return 0;
}

#endif
