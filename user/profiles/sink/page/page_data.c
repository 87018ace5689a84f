// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The page's data. Columns rather than objects: a path is a few short numbers, so 10,000 of them
 * are some 300 kB, and the page reads them into typed arrays. What tends to repeat is written once:
 * of a run of functions in one object (or source file) only the first names it, the others have 0.
 * Paths have their depth instead of their caller's number, which their order makes enough.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "calls/walk.h"
#include "sink/accounts.h"
#include "sink/page/page.h"
#include "sink/sink.h"
#include "util/json.h"

#define PAGE_SCHEMA 1 /* data.js reads this one */

static void numbers_fini(struct page_numbers *n)
{
	free(n->functions);
	free(n->paths);
	free(n->threads);
}

static int numbers_init(struct page_numbers *n, const struct profile *p)
{
	uint32_t paths = 0, functions = 0;
	size_t i;

	*n = (struct page_numbers){
		.functions = calloc(p->functions_cnt + 1, sizeof(*n->functions)),
		.paths = calloc(p->nodes_cnt + 1, sizeof(*n->paths)),
		.threads = calloc(p->threads_cnt + 1, sizeof(*n->threads)),
	};
	if (!n->functions || !n->paths || !n->threads)
		return -ENOMEM;
	for (i = 0; i < p->threads_cnt; i++) {
		struct walk w = walk__from(p, p->threads[i].first_root);

		if (w.first)
			n->threads[n->threads_cnt++] = i;
		while (walk__next(&w)) {
			if (!w.entering)
				continue;
			n->paths[w.node] = ++paths;
			n->functions[p->nodes[w.node].function] = 1;
		}
	}
	for (i = 0; i < p->functions_cnt; i++) {
		const struct profile_function *f = &p->functions[i];

		if (n->functions[i] || (f->stats.calls && !f->hidden))
			n->functions[i] = ++functions;
	}
	return 0;
}

static void write_target(struct json *j, const struct profile_target *t)
{
	json_member_open(j, "pids", '[');
	for (size_t i = 0; i < t->pids_cnt; i++)
		json_i64(j, t->pids[i]);
	json_close(j, ']');
	json_member_string(j, "exec", t->exec);
	json_member_open(j, "command", '[');
	for (char *const *arg = t->command; arg && *arg; arg++)
		json_string(j, *arg);
	json_close(j, ']');
}

/* tid as the JSON format has it: of a goroutine, its number. "stack": one that is not the thread's
 * own, as in thread__name(). */
static void write_threads(struct json *j, const struct profile *p, const struct page_numbers *n)
{
	json_member_open(j, "threads", '[');
	for (size_t i = 0; i < n->threads_cnt; i++) {
		const struct profile_thread *t = &p->threads[n->threads[i]];

		json_open(j, '{');
		json_member_i64(j, "pid", t->pid);
		json_member_i64(j, "tid", t->goroutine ? (int64_t)t->goroutine : t->tid);
		json_member_string(j, "comm", t->comm);
		if (*t->title)
			json_member_string(j, "title", t->title);
		json_member_bool(j, "goroutine", t->goroutine != 0);
		json_member_bool(j, "stack", t->callstack_ns && !t->goroutine && !t->spans);
		json_member_bool(j, "spans", t->spans);
		json_member_u64(j, "merged", t->merged_cnt);
		json_close(j, '}');
	}
	json_close(j, ']');
}

enum path_column { PATH_DEPTH, PATH_FUNCTION, PATH_FIGURES };

static uint64_t path_value(const struct profile *p, const struct page_numbers *n,
			   const struct walk *w, size_t column)
{
	const struct profile_node *node = &p->nodes[w->node];

	switch (column) {
	case PATH_DEPTH:
		return w->depth;
	case PATH_FUNCTION:
		return n->functions[node->function] - 1;
	default:
		return page_figure__of(&page_figures[column - PATH_FIGURES], &node->stats);
	}
}

/* All threads' paths, one thread after the other: depth 0 begins at a thread's first, and `roots`
 * says how many of depth 0 each thread has. */
static void write_paths(struct json *j, const struct profile *p, const struct page_numbers *n)
{
	size_t column, i;

	json_member_open(j, "paths", '{');
	json_member_open(j, "roots", '[');
	for (i = 0; i < n->threads_cnt; i++) {
		uint32_t node = p->threads[n->threads[i]].first_root, cnt = 0;

		for (; node; node = p->nodes[node].next_sibling)
			cnt++;
		json_u64(j, cnt);
	}
	json_close(j, ']');
	for (column = 0; column < PATH_FIGURES + PAGE_FIGURES; column++) {
		json_member_open(j,
				 column == PATH_DEPTH ? "depth"
				 : column == PATH_FUNCTION
					 ? "function"
					 : page_figures[column - PATH_FIGURES].name,
				 '[');
		for (i = 0; i < n->threads_cnt && !ferror_unlocked(j->out); i++) {
			struct walk w = walk__from(p, p->threads[n->threads[i]].first_root);

			while (walk__next(&w))
				if (w.entering)
					json_u64(j, path_value(p, n, &w, column));
		}
		json_close(j, ']');
	}
	json_close(j, '}');
}

static void write_accounts(struct json *j, const struct profile *p)
{
	char note[ACCOUNTS_LINE];

	if (*accounts__estimates(p, note, sizeof(note))) {
		json_member_open(j, "estimates", '{');
		json_member_u64(j, "period", p->sample_period_ns);
		json_member_string(j, "note", note);
		json_close(j, '}');
	}
	accounts__json(j, p);
	json_member_u64(j, "own_ns", accounting__own_ns(&p->accounting));
	json_member_u64(j, "probed", p->probes.functions);
	json_member_u64(j, "skipped", p->probes.skipped_cnt);
}

/* By name: a dropped function may have no paths, and then it is not listed. */
static void write_drops(struct json *j, const struct profile *p, const uint32_t *numbers)
{
	json_member_open(j, "drops", '[');
	for (size_t i = 0; i < p->drops_cnt; i++) {
		const struct profile_drop *d = &p->drops[i];

		json_open(j, '{');
		json_member_string(j, "name", p->functions[d->function].name);
		json_key(j, "function");
		if (numbers[d->function])
			json_u64(j, numbers[d->function] - 1);
		else
			json_null(j);
		json_member_u64(j, "at", d->at_ns);
		json_member_u64(j, "back", d->back_ns);
		json_member_double(j, "rate", d->calls_per_second);
		json_member_double(j, "cost", d->cost_percent);
		json_member_u64(j, "sampled", d->sampled);
		json_member_string(j, "reason", d->reason);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Writes the functions that a viewer may zoom into, by their numbers in the run; then the zoomed
 * function, and those that are exact for its sake, by their numbers on the page. */
static void write_zoom(struct json *j, const struct profile *p, const uint32_t *numbers)
{
	json_member_open(j, "zoom", '{');
	json_member_open(j, "ids", '[');
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (numbers[i])
			json_u64(j, i);
	}
	json_close(j, ']');
	json_key(j, "function");
	if (p->zoomed && p->zoomed <= p->functions_cnt && numbers[p->zoomed - 1])
		json_u64(j, numbers[p->zoomed - 1] - 1);
	else
		json_null(j);
	json_member_bool(j, "zoomed", p->zoomed);
	json_member_open(j, "chosen", '[');
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (numbers[i] && p->functions[i].chosen)
			json_u64(j, numbers[i] - 1);
	}
	json_close(j, ']');
	json_close(j, '}');
}

static const char *weight_name(enum weight weight)
{
	static const char *const names[] = {
		[WEIGHT_WALL] = "wall",
		[WEIGHT_CPU] = "cpu",
		[WEIGHT_OFF] = "off",
		[WEIGHT_CALLS] = "calls",
	};

	return names[weight];
}

int page_data__write(struct json *j, const struct profile *p, const struct sink_options *opts,
		     const struct diff *d)
{
	struct page_numbers n;
	int err = numbers_init(&n, p);

	if (err)
		goto out;
	json_open(j, '{');
	json_member_u64(j, "schema", PAGE_SCHEMA);
	json_member_string(j, "proftrace", PROFTRACE_VERSION);
	write_target(j, &p->target);
	json_member_double(j, "start_time", p->start_time);
	json_member_u64(j, "duration", p->duration_ns);
	json_member_u64(j, "paused", p->paused_ns);
	json_member_string(j, "weight", weight_name(sink__weight(opts, p)));
	json_member_bool(j, "raw", opts->raw);
	write_accounts(j, p);
	write_drops(j, p, n.functions);
	page_functions__write(j, p, n.functions);
	if (opts->zooms)
		write_zoom(j, p, n.functions);
	write_threads(j, p, &n);
	write_paths(j, p, &n);
	json_key(j, "sessions");
	err = page_sessions__write(j, p, opts, &n);
	json_key(j, "timeline");
	if (!err)
		err = page_calls__write(j, p, &n);
	else
		json_null(j);
	json_key(j, "lines");
	if (!err)
		err = page_lines__write(j, p, n.functions);
	else
		json_null(j);
	json_key(j, "diff");
	if (!err)
		err = page_diff__write(j, d, opts, n.functions);
	else
		json_null(j);
	json_close(j, '}');
out:
	numbers_fini(&n);
	return err;
}
