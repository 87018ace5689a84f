// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, one line a path: "comm;main;work 1234". The weight is what the path has cost
 * itself, an integer, so that the lines of a profile can be added up. The format knows no escapes
 * and sums equal lines (so threads with one root are merged).
 * Stacks that differ do so in reverse, too: --reverse prints the same lines from their other end.
 */
#include <inttypes.h>

#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/walk.h"
#include "sink/data/folded_stack.h"
#include "sink/diffs.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "views/merge.h"

static void print_line(const struct folded_stack *s, uint64_t value, FILE *out)
{
	fwrite_unlocked(s->path, 1, s->len, out);
	fprintf(out, " %" PRIu64 "\n", value);
}

/* The stack from `node` out to the thread's root, behind what the thread is called. */
static int push_reversed(struct folded_stack *s, const struct profile *p, uint32_t node)
{
	int err = 0;

	s->ends_len = 1;
	s->len = s->ends[0];
	for (; node && !err; node = p->nodes[node].parent)
		err = folded_stack__push(s, p->functions[p->nodes[node].function].name);
	return err;
}

static int write_reversed(const struct profile *p, const struct profile_thread *t,
			  const struct sink_options *opts, struct folded_stack *s, FILE *out)
{
	struct walk w = walk__from(p, t->first_root);
	int err = folded_stack__begin(s, t, opts);

	while (!err && walk__next(&w) && !ferror_unlocked(out)) {
		uint64_t value = weigh(&p->nodes[w.node].stats, opts->weight);

		if (!w.entering || !value)
			continue;
		err = push_reversed(s, p, w.node);
		if (!err)
			print_line(s, value, out);
	}
	return err;
}

static int write_thread(const struct profile *p, const struct profile_thread *t,
			const struct sink_options *opts, struct folded_stack *s, FILE *out)
{
	struct walk w = walk__from(p, t->first_root);
	int err = folded_stack__begin(s, t, opts);

	while (!err && walk__next(&w) && !ferror_unlocked(out)) {
		const struct profile_node *n = &p->nodes[w.node];
		uint64_t value = weigh(&n->stats, opts->weight);

		if (!w.entering) {
			folded_stack__pop(s);
			continue;
		}
		err = folded_stack__push(s, p->functions[n->function].name);
		if (!err && value)
			print_line(s, value, out);
	}
	return err;
}

static int write_folded(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct folded_stack s = {0};
	struct profile *merged = NULL;
	size_t i;
	int err;

	if (!opts->thread_frames) {
		err = profile__merge_threads(p, opts->process_frames ? MERGE_PROCESS : MERGE_COMM,
					     &merged);
		if (err)
			return err;
		p = merged;
	}
	stream__begin();
	for (i = 0, err = 0; i < p->threads_cnt && !err; i++)
		err = opts->reverse ? write_reversed(p, &p->threads[i], opts, &s, out)
				    : write_thread(p, &p->threads[i], opts, &s, out);
	folded_stack__clear(&s);
	profile__free(merged);
	return err ? err : stream__end(out);
}

const struct sink sink_folded = {
	.name = "folded",
	.help = "folded stacks, for flame graphs",
	.suffixes = (const char *const[]){".folded", NULL},
	.sums = true,
	.names_only = true,
	.weighs = true,
	.write = write_folded,
	.write_diff = diff_folded__write,
};
