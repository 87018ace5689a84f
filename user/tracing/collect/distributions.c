// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/distributions.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "tables/bpf_tables.h"
#include "util/array.h"

#define LINEAR 8 /* buckets of an entry, which is of one power of two */

static int compare_buckets(const void *a, const void *b)
{
	const struct profile_bucket *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

/* Makes one of those that are alike: CPUs count apart. */
static void merge_equal(struct profile *p)
{
	size_t to = 0;

	for (size_t i = 0; i < p->buckets_cnt; i++) {
		if (to && !compare_buckets(&p->buckets[to - 1], &p->buckets[i]))
			p->buckets[to - 1].calls += p->buckets[i].calls;
		else
			p->buckets[to++] = p->buckets[i];
	}
	p->buckets_cnt = to;
}

int distributions__read(const struct bpf_tables *t, uint32_t functions_cnt, struct profile *p)
{
	uint32_t cnt = bpf_tables__dists(t);
	size_t cap = 0;

	for (uint32_t i = 1; i < cnt; i++) {
		const struct wire_dist *d = &t->dists[i];
		uint64_t key = t->dist_keys[i];

		if (!key || WIRE_DIST_FUNCTION(key) >= functions_cnt)
			continue;
		if (ARRAY_RESERVE_MORE(&p->buckets, p->buckets_cnt, LINEAR, &cap))
			return -ENOMEM;
		for (uint32_t k = 0; k < LINEAR; k++) {
			uint64_t calls = d->calls[k];

			if (calls)
				p->buckets[p->buckets_cnt++] = (struct profile_bucket){
					.function = WIRE_DIST_FUNCTION(key),
					.bucket = WIRE_DIST_OCTAVE(key) * LINEAR + k,
					.calls = calls,
				};
		}
	}
	if (p->buckets_cnt)
		qsort(p->buckets, p->buckets_cnt, sizeof(*p->buckets), compare_buckets);
	merge_equal(p);
	return 0;
}
