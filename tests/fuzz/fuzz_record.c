// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: the content of a recording's profile, which checksums would keep mutations from, and
 * what computes with it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls/diff.h"
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

/* A run compared with a part of itself: what is in both has as many calls. */
static void compare(struct profile *p, const uint8_t *data, size_t len)
{
	static const struct narrowing shallow = {.depth = 2};
	const struct diff_options opts = {.per_call = len & 1, .time = len / 2 % 3};
	struct diff_run runs[DIFF_RUNS] = {{p, "old", 1}, {NULL, "new", 2}};
	struct diff_ranking ranking = {0};
	struct memory memory = {0};
	struct diff *d;

	if (decode__profile(data, len, &memory, &runs[DIFF_NEW].profile))
		abort();
	if (!profile__narrow(runs[DIFF_NEW].profile, &shallow) && !diff__new(runs, &opts, &d)) {
		for (size_t i = 1; i < d->both->nodes_cnt; i++) {
			if (d->paths[i].there[DIFF_NEW] && !d->paths[i].there[DIFF_OLD])
				abort();
		}
		if (!diff__rank(d->paths, 1, d->both->nodes_cnt, DIFF_BY_SELF, &ranking))
			free(ranking.rows);
		diff__free(d);
	}
	profile__free(runs[DIFF_NEW].profile);
	memory__free(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct narrowing shallow = {.depth = 2};
	struct memory memory = {0};
	struct profile *p;

	if (!decode__profile(data, len, &memory, &p)) {
		look(p);
		compare(p, data, len);
		if (!profile__join_lanes(&p) && !profile__narrow(p, &shallow))
			profile__summarize(p);
		profile__free(p);
	}
	memory__free(&memory);
	return 0;
}
