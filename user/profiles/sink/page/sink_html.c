// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One file that any browser opens, without a network: the page from user/web with the profile as
 * JSON in it. Nothing a stranger has named can become markup: in the JSON there is no '<', and the
 * page only ever sets text.
 */
#include "calls/profile.h"
#include "sink/diffs.h"
#include "sink/page/page.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "util/json.h"

static int write_html(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct json j = {.out = out, .in_page = true};
	int err;

	stream__begin();
	fwrite_unlocked(page_head, 1, page_head_end - page_head, out);
	err = page_data__write(&j, p, opts, NULL);
	fwrite_unlocked(page_tail, 1, page_tail_end - page_tail, out);
	return err ? err : stream__end(out);
}

const struct sink sink_html = {
	.name = "html",
	.help = "a page for any browser: flame graph, tree, functions, timeline",
	.suffixes = (const char *const[]){".html", ".htm", NULL},
	.whole = true,
	.shows_calls = true,
	.shows_values = true,
	.weighs = true,
	.write = write_html,
	.write_diff = diff_html__write,
};
