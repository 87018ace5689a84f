// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: the content of a recording's profile, which checksums would keep mutations from, and
 * what computes with it; and that of blocks behind a small profile. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording_file.h"

#include "calls/profile.h"
#include "calls/tree.h"
#include "calls/values.h"
#include "diff/diff.h"
#include "record/calls/call_block.h"
#include "record/format/decode.h"
#include "record/format/encode.h"
#include "record/format/run_info.h"
#include "record/reader.h"
#include "sessions/session_profile.h"
#include "sessions/sessions.h"
#include "timeline/timeline.h"
#include "timeline/timeline_view.h"
#include "views/merge.h"
#include "views/filter.h"
#include "views/range.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A recording that the reader lets through must keep the promises of profiles. */
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
	static const struct profile_filter shallow = {.depth = 2};
	const struct diff_options opts = {.per_call = len & 1, .time = len / 2 % 3};
	struct diff_run runs[DIFF_RUNS] = {{p, "old", 1}, {NULL, "new", 2}};
	struct diff_ranking ranking = {0};
	struct memory memory = {0};
	struct diff *d;

	if (decode__profile(data, len, &memory, &runs[DIFF_NEW].profile))
		abort();
	if (!profile__filter(runs[DIFF_NEW].profile, &shallow) && !diff__new(runs, &opts, &d)) {
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

/* Each call comes at most once, in order, and is of a node of its thread. */
static void walk(struct recorded *r)
{
	struct timeline *t = r->profile->timeline;
	uint64_t cnt = 0;

	for (uint32_t i = 0; t && i < r->profile->threads_cnt && !t->rewind(t, i); i++) {
		struct timeline_call call;
		uint64_t before_ns = 0;

		for (; t->next(t, i, &call) > 0; cnt++) {
			check(call.enter_ns >= before_ns && call.leave_ns >= call.enter_ns);
			check(call.node && call.node < r->profile->nodes_cnt);
			check(r->profile->nodes[call.node].thread == i);
			for (uint32_t v = 0; v < call.values_cnt; v++)
				check(call.values[v].kind != VALUE_TEXT ||
				      strlen(call.values[v].text) < CALL_VALUES_SIZE);
			before_ns = call.enter_ns;
		}
	}
	check(cnt <= r->calls);
}

/* Sessions hold together, whatever calls say; their profile keeps what profiles promise. */
static void find(struct profile *p)
{
	static const struct session_link link = {"f", "v", "g", "v"};
	bool *functions = calloc(p->functions_cnt + 1, sizeof(*functions));
	const struct session_spec spec = {.functions = functions,
					  .slowest = 3,
					  .over_ns = 100,
					  .links = &link,
					  .links_cnt = 1};
	struct sessions *s = NULL;
	int err;

	check(functions);
	functions[0] = p->functions_cnt;
	err = sessions__find(p, &spec, &s);
	free(functions);
	if (err)
		return;
	for (size_t i = 0; i < s->groups_cnt; i++) {
		const struct session_group *g = &s->groups[i];

		check(g->slowest_cnt <= g->count && g->min_ns <= g->p50_ns);
		check(g->p50_ns <= g->p90_ns && g->p90_ns <= g->p99_ns && g->p99_ns <= g->max_ns);
	}
	if (profile__of_sessions(p, s, true) || profile__summarize(p))
		return;
	look(p);
	for (uint32_t i = 0; i < p->threads_cnt && !p->timeline->rewind(p->timeline, i); i++) {
		struct timeline_call call;

		while (p->timeline->next(p->timeline, i, &call) > 0)
			check(p->nodes[call.node].thread == i);
	}
}

static void read_file(const uint8_t *data, size_t len)
{
	struct recorded r = {0};
	struct reader *reader;

	if (recording_file__open(data, len, &reader))
		return;
	for (size_t i = 0; i < reader__runs(reader); i++) {
		if (!reader__load(reader, i, &r)) {
			walk(&r);
			if (len & 1 || !profile__cut(r.profile, &(struct time_range){100, 1000}))
				find(r.profile);
		}
		recorded__free(&r);
	}
	reader__free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct profile_filter shallow = {.depth = 2};
	struct memory memory = {0};
	struct profile *p;

	if (!decode__profile(data, len, &memory, &p)) {
		look(p);
		compare(p, data, len);
		if (!profile__join_callstacks(&p) && !profile__filter(p, &shallow))
			profile__summarize(p);
		profile__free(p);
	}
	memory__free(&memory);
	read_file(data, len);
	return 0;
}
