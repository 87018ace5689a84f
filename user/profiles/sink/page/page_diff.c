// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The difference of two runs as the page's data: figures of the old run beside those of the new
 * one, a column each, for the functions that are in the document.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff.h"
#include "sink/page/page.h"
#include "sink/sink.h"
#include "sink/text/diff_table.h"
#include "util/json.h"

/* A column of functions that are in the document. */
#define COLUMN(j, d, numbers, name, value)                                 \
	do {                                                               \
		json_member_open(j, name, '[');                            \
		for (size_t i = 0; i < (d)->both->functions_cnt; i++) {    \
			const struct diff_figures *f = &(d)->functions[i]; \
                                                                           \
			if ((numbers)[i])                                  \
				json_u64(j, value);                        \
		}                                                          \
		json_close(j, ']');                                        \
	} while (0)

static int write_verdict(struct json *j, const struct diff *d, const struct sink_options *opts)
{
	struct sink_options plain = {.weight = opts->weight};
	char *text = NULL;
	size_t len = 0;
	struct diff_table t = {
		.d = d,
		.pr = {.profile = d->both, .opts = &plain, .out = open_memstream(&text, &len)},
	};
	int err = t.pr.out ? diff_verdict__print(&t) : -ENOMEM;

	printer__fini(&t.pr);
	if (t.pr.out && fclose(t.pr.out) && !err)
		err = -ENOMEM;
	if (!err && len)
		text[strcspn(text, "\n")] = '\0';
	json_member_string(j, "verdict", err ? "" : text);
	free(text);
	return err;
}

int page_diff__write(struct json *j, const struct diff *d, const struct sink_options *opts,
		     const uint32_t *numbers)
{
	static const char *const times[] = {
		[DIFF_WALL] = "time", [DIFF_CPU] = "CPU time", [DIFF_OFF] = "time off the CPU"};
	int err;

	if (!d) {
		json_null(j);
		return 0;
	}
	json_open(j, '{');
	err = write_verdict(j, d, opts);
	json_member_string(j, "compared", times[d->opts.time]);
	json_member_string(j, "old", d->runs[DIFF_OLD].file);
	json_member_string(j, "new", d->runs[DIFF_NEW].file);
	json_member_u64(j, "left_out", d->left_out_cnt);
	COLUMN(j, d, numbers, "old_calls", f->stats[DIFF_OLD].calls);
	COLUMN(j, d, numbers, "old_self", f->self.old_ns);
	COLUMN(j, d, numbers, "new_self", f->self.new_ns);
	COLUMN(j, d, numbers, "noise", f->self.noise);
	COLUMN(j, d, numbers, "calls_noise", f->calls_noise);
	COLUMN(j, d, numbers, "noise_ns", f->self.noise_ns);
	COLUMN(j, d, numbers, "estimate", f->self.error_ns != 0);
	COLUMN(j, d, numbers, "unseen", f->unseen);
	COLUMN(j, d, numbers, "uncounted", f->uncounted);
	COLUMN(j, d, numbers, "there", f->there[DIFF_OLD] | f->there[DIFF_NEW] << 1);
	json_close(j, '}');
	return err;
}
