// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The page of a difference: the new run as -f html shows it, with each function coloured by how its
 * own time has changed (red: more, blue: less, grey: within noise), and a table of the changes.
 * What only the old run has called is in the table alone, as it has no width.
 */
#include <errno.h>
#include <stdlib.h>

#include "diff/diff.h"
#include "sink/diffs.h"
#include "sink/page/page.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "util/json.h"

int diff_html__write(const struct diff *d, const struct sink_options *opts, FILE *out)
{
	const struct profile *now = d->runs[DIFF_NEW].profile;
	struct json j = {.out = out, .in_page = true};
	struct profile shown = *d->both;
	int err;

	shown.nodes = calloc(shown.nodes_cnt + 1, sizeof(*shown.nodes));
	if (!shown.nodes)
		return -ENOMEM;
	for (size_t i = 1; i < shown.nodes_cnt; i++) {
		shown.nodes[i] = d->both->nodes[i];
		shown.nodes[i].stats = d->paths[i].stats[DIFF_NEW];
	}
	shown.target = now->target;
	shown.start_time = now->start_time;
	shown.duration_ns = now->duration_ns;
	shown.paused_ns = now->paused_ns;
	shown.max_overhead = now->max_overhead;
	shown.sample_period_ns = now->sample_period_ns;
	shown.accounting = now->accounting;
	shown.probes = now->probes;
	stream__begin();
	fwrite_unlocked(page_head, 1, page_head_end - page_head, out);
	err = page_data__write(&j, &shown, opts, d);
	fwrite_unlocked(page_tail, 1, page_tail_end - page_tail, out);
	free(shown.nodes);
	return err ? err : stream__end(out);
}
