// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "comm;main;work 1200 3400": what a path itself weighed in the old run, and weighs in the new one.
 * This is what difffolded.pl makes of two files of folded stacks, and flamegraph.pl draws: as wide
 * as the new run, red where it grew, blue where it shrank.
 */
#include <inttypes.h>

#include "calls/walk.h"
#include "diff/diff.h"
#include "sink/data/folded_stack.h"
#include "sink/diffs.h"
#include "sink/sink.h"
#include "sink/stream.h"

static void print_line(const struct folded_stack *s, const struct diff_figures *f,
		       enum weight weight, FILE *out)
{
	bool calls = weight == WEIGHT_CALLS;
	uint64_t old = calls ? f->stats[DIFF_OLD].calls : f->self.old_ns;
	uint64_t now = calls ? f->stats[DIFF_NEW].calls : f->self.new_ns;

	if (!old && !now)
		return;
	fwrite_unlocked(s->path, 1, s->len, out);
	fprintf(out, " %" PRIu64 " %" PRIu64 "\n", old, now);
}

/* A path has no less time than those below it, so where it is hidden, these are. */
static int write_thread(const struct diff *d, const struct profile_thread *t, enum weight weight,
			struct folded_stack *s, FILE *out)
{
	static const struct sink_options by_comm;
	const struct profile *both = d->both;
	struct walk w = walk__from(both, t->first_root);
	int err = folded_stack__begin(s, t, &by_comm);

	while (!err && walk__next(&w) && !ferror_unlocked(out)) {
		if (!w.entering) {
			folded_stack__pop(s);
			continue;
		}
		err = folded_stack__push(s, both->functions[both->nodes[w.node].function].name);
		if (!err && !d->paths[w.node].hidden)
			print_line(s, &d->paths[w.node], weight, out);
	}
	return err;
}

int diff_folded__write(const struct diff *d, const struct sink_options *opts, FILE *out)
{
	struct folded_stack s = {0};
	int err = 0;

	stream__begin();
	for (size_t i = 0; i < d->both->threads_cnt && !err; i++)
		err = write_thread(d, &d->both->threads[i], opts->weight, &s, out);
	folded_stack__clear(&s);
	return err ? err : stream__end(out);
}
