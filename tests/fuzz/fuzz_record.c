// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: the content of a recording's profile, which checksums would keep mutations from, and
 * what computes with it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls/merge.h"
#include "calls/narrow.h"
#include "calls/profile.h"
#include "record/decode.h"
#include "record/encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What was let through has to keep what profiles promise. */
static void look(struct profile *p)
{
	struct bytes again = {0};

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		const struct profile_node *n = &p->nodes[i];

		if (n->stats.total_ns < n->stats.self_ns || n->stats.off_ns > n->stats.total_ns ||
		    (n->parent && p->nodes[n->parent].stats.total_ns < n->stats.total_ns))
			abort();
	}
	if (!encode__profile(p, &again) && !again.len)
		abort();
	free(again.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct narrowing shallow = {.depth = 2};
	struct memory memory = {0};
	struct profile *p;

	if (!decode__profile(data, len, &memory, &p)) {
		look(p);
		if (!profile__join_lanes(&p) && !profile__narrow(p, &shallow))
			profile__summarize(p);
		profile__free(p);
	}
	memory__free(&memory);
	return 0;
}
