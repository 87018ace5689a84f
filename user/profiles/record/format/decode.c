// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A profile from a file is checked as a whole before anybody computes with it: indexes lie in their
 * arrays, paths form trees, and all sums stay far from where they would wrap around.
 */
#include "record/format/decode.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calls/accounting.h"
#include "calls/distribution.h"
#include "calls/line_order.h"
#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/tree.h"
#include "calls/walk.h"
#include "record/format/run_info.h"
#include "record/format/table_reader.h"

#define ARGUMENT_NAME_MAX 256 /* bytes */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Tables that are read besides the profile's own arrays. */
struct parts {
	struct profile *summary;
	struct pid_row *pids;
	const char **command;
	struct site_row *sites;
	struct profile_skip *skipped;
	struct alias_row *aliases;
	size_t summary_cnt, pids_cnt, command_cnt, sites_cnt, skipped_cnt, aliases_cnt;
};

static int read_parts(const uint8_t *data, size_t len, struct memory *m, struct profile *p,
		      struct parts *s)
{
	struct table_reader t = {.at = data, .end = data + len, .memory = m};
	size_t nodes_cnt = 0;
	const struct table_place places[] = {
		{&layout_summary, 0, (void **)&s->summary, &s->summary_cnt},
		{&layout_pids, 0, (void **)&s->pids, &s->pids_cnt},
		{&layout_command, 0, (void **)&s->command, &s->command_cnt},
		{&layout_sites, 0, (void **)&s->sites, &s->sites_cnt},
		{&layout_skipped, 0, (void **)&s->skipped, &s->skipped_cnt},
		{&layout_aliases, 0, (void **)&s->aliases, &s->aliases_cnt},
		{&layout_functions, 0, (void **)&p->functions, &p->functions_cnt},
		{&layout_threads, 0, (void **)&p->threads, &p->threads_cnt},
		{&layout_nodes, 1, (void **)&p->nodes, &nodes_cnt},
		{&layout_buckets, 0, (void **)&p->buckets, &p->buckets_cnt},
		{&layout_drops, 0, (void **)&p->drops, &p->drops_cnt},
		{&layout_cpu_shares, 0, (void **)&p->cpu_shares, &p->cpu_shares_cnt},
		{&layout_estimates, 0, (void **)&p->estimates, &p->estimates_cnt},
		{&layout_arguments, 0, (void **)&p->arguments, &p->arguments_cnt},
		{&layout_lines, 0, (void **)&p->lines, &p->lines_cnt},
		{&layout_inlines, 0, (void **)&p->inlines, &p->inlines_cnt},
	};
	int err = table_reader__read(&t, places, COUNT(places));

	if (err)
		return err;
	if (!p->nodes)
		p->nodes = calloc(1, sizeof(*p->nodes));
	p->nodes_cnt = nodes_cnt + 1;
	return p->nodes ? 0 : -ENOMEM;
}

/* Hands memory over that the profile borrows from, and frees the rest. */
static int keep_parts(struct parts *s, struct memory *m)
{
	int err = 0;

	free(s->summary);
	if (s->pids)
		err = memory__keep(m, s->pids);
	if (s->command)
		err = memory__keep(m, s->command) ?: err;
	if (s->skipped)
		err = memory__keep(m, s->skipped) ?: err;
	free(s->sites);
	free(s->aliases);
	return err;
}

/* Adds to a sum that is to stay below 2^63. */
static bool add(uint64_t *sum, uint64_t v)
{
	*sum += v;
	return v <= INT64_MAX && *sum <= INT64_MAX;
}

static bool take_summary(struct profile *p, const struct parts *s)
{
	const struct profile_accounting *a = &s->summary->accounting;
	uint64_t sum = 0;

	if (s->summary_cnt != 1)
		return false;
	p->start_time = s->summary->start_time;
	p->duration_ns = s->summary->duration_ns;
	p->paused_ns = s->summary->paused_ns;
	p->files_by_root = s->summary->files_by_root;
	p->cost_unknown = s->summary->cost_unknown;
	p->max_overhead = s->summary->max_overhead;
	p->surveyed_ns = s->summary->surveyed_ns;
	p->sample_period_ns = s->summary->sample_period_ns;
	p->accounting = *a;
	p->target.exec = s->summary->target.exec;
	p->probes = s->summary->probes;
	if (!add(&sum, a->cpu_ns))
		return false;
	for (size_t i = 0; i < ACCOUNTS; i++) {
		if (!account__is_signed(&accounts[i]) &&
		    !add(&sum, (uint64_t)account__of(&accounts[i], a)))
			return false;
	}
	return p->duration_ns <= INT64_MAX && p->paused_ns <= p->duration_ns &&
	       a->open > -INT64_MAX;
}

/* Sinks use such names as they are. */
static bool is_word(const char *s)
{
	return s && *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

static bool is_argument(const char *s)
{
	return s && *s && strlen(s) < ARGUMENT_NAME_MAX &&
	       !s[strspn(s,
			 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-:>.")];
}

static bool take_target(struct profile *p, const struct parts *s)
{
	p->target.pids = s->pids ? &s->pids->pid : NULL;
	p->target.pids_cnt = s->pids_cnt;
	p->target.command = (char *const *)s->command; /* a zeroed row follows */
	p->probes.skipped = s->skipped;
	p->probes.skipped_cnt = s->skipped_cnt;
	for (size_t i = 0; i < s->command_cnt; i++) {
		if (!s->command[i])
			return false;
	}
	if (s->sites_cnt > COUNT(p->probes.sites))
		return false;
	for (size_t i = 0; i < s->sites_cnt; i++) {
		if (!is_word(s->sites[i].class_name))
			return false;
		p->probes.sites[i].class_name = s->sites[i].class_name;
		p->probes.sites[i].count = s->sites[i].count;
	}
	p->probes.sites_cnt = s->sites_cnt;
	return true;
}

/* Aliases come in the order of their functions. */
static int take_aliases(struct profile *p, const struct parts *s, struct memory *m)
{
	const char **symbols = calloc(s->aliases_cnt + 1, sizeof(*symbols));

	if (memory__keep(m, symbols))
		return -ENOMEM;
	for (size_t i = 0; i < s->aliases_cnt; i++) {
		const struct alias_row *row = &s->aliases[i];

		if (row->function >= p->functions_cnt || !row->symbol ||
		    (i && row->function < row[-1].function))
			return -EINVAL;
		symbols[i] = row->symbol;
		if (!p->functions[row->function].aliases_cnt++)
			p->functions[row->function].aliases = &symbols[i];
	}
	return 0;
}

static bool name_functions(struct profile *p)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		struct profile_function *f = &p->functions[i];

		if (f->kind >= FUNCTION_KINDS)
			return false;
		f->symbol = f->symbol ?: "";
		f->name = f->name ?: f->symbol;
		f->module = f->module ?: "";
	}
	return true;
}

/* Index bounds within nodes are checked by profile__connect(). */
static bool nodes_valid(const struct profile *p)
{
	struct call_stats sum = {0};

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		const struct profile_node *n = &p->nodes[i];
		const struct call_stats *s = &n->stats;

		if (n->parent >= p->nodes_cnt ||
		    (n->parent && p->nodes[n->parent].thread != n->thread))
			return false;
		if (!add(&sum.calls, s->calls) || !add(&sum.self_ns, s->self_ns) ||
		    !add(&sum.raw_self_ns, s->raw_self_ns) ||
		    !add(&sum.self_error_ns, s->self_error_ns) || !add(&sum.samples, s->samples) ||
		    !add(&sum.varied_ns, s->varied_ns) || s->sampled_ns > s->self_ns ||
		    s->burst_calls > s->calls || s->off_self_ns > s->self_ns)
			return false;
	}
	return true;
}

/* Inlined calls come behind those that they are part of, so chains of them have an end. */
static bool lines_valid(const struct profile *p)
{
	uint64_t hits = 0, ns = 0;

	for (size_t i = 0; i < p->inlines_cnt; i++) {
		if (!p->inlines[i].name || p->inlines[i].parent > i)
			return false;
	}
	for (size_t i = 0; i < p->lines_cnt; i++) {
		const struct profile_line *l = &p->lines[i];

		if (!l->file || !l->line || l->function >= p->functions_cnt ||
		    l->inlined > p->inlines_cnt || !add(&hits, l->hits) || !add(&ns, l->ns) ||
		    l->approximate > 1 || l->aside > 1 || (l->reason && (l->hits || l->ns)) ||
		    (i && line_order__compare(l - 1, l) > 0))
			return false;
	}
	return true;
}

static bool rest_valid(const struct profile *p)
{
	uint64_t calls = 0; /* then samples */

	for (size_t i = 0; i < p->buckets_cnt; i++) {
		const struct profile_bucket *b = &p->buckets[i];

		if (b->function >= p->functions_cnt || b->bucket >= BUCKETS ||
		    !add(&calls, b->calls))
			return false;
		if (i && (b->function < b[-1].function ||
			  (b->function == b[-1].function && b->bucket <= b[-1].bucket)))
			return false;
	}
	for (size_t i = 0; i < p->drops_cnt; i++) {
		if (p->drops[i].function >= p->functions_cnt)
			return false;
	}
	for (size_t i = 0; i < p->estimates_cnt; i++) {
		const struct profile_estimate *e = &p->estimates[i];

		if (e->function >= p->functions_cnt || (i && e->function <= e[-1].function))
			return false;
	}
	calls = 0;
	for (size_t i = 0; i < p->cpu_shares_cnt; i++) {
		if (!p->cpu_shares[i].module ||
		    p->cpu_shares[i].traced > p->cpu_shares[i].samples ||
		    !add(&calls, p->cpu_shares[i].samples))
			return false;
	}
	for (size_t i = 0; i < p->arguments_cnt; i++) {
		const struct profile_argument *a = &p->arguments[i];

		if (a->function >= p->functions_cnt || !is_argument(a->name) ||
		    (i && a->function < a[-1].function))
			return false;
	}
	return true;
}

/* Inclusive figures, from the innermost calls out. Returns how many nodes hang on a thread: those
 * that are their own callers do not. Each is below its caller only once, so sums stay bounded. */
static size_t sum_nodes(struct profile *p)
{
	size_t seen = 0;

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		struct call_stats *s = &p->nodes[i].stats;

		s->total_ns = s->self_ns;
		s->off_ns = s->off_self_ns;
		s->raw_total_ns = s->raw_self_ns;
		s->error_ns = s->self_error_ns;
	}
	for (size_t i = 0; i < p->threads_cnt; i++) {
		struct walk w = walk__from(p, p->threads[i].first_root);

		while (walk__next(&w)) {
			const struct profile_node *n = &p->nodes[w.node];

			seen += w.entering;
			if (w.entering || !n->parent)
				continue;
			stats__add_callee(&p->nodes[n->parent].stats, &n->stats);
		}
	}
	return seen;
}

static int build(struct profile *p, const struct parts *s, struct memory *m)
{
	int err;

	if (!s->summary || !take_summary(p, s) || !take_target(p, s))
		return -EINVAL;
	err = take_aliases(p, s, m);
	if (err)
		return err;
	if (!name_functions(p) || !nodes_valid(p) || !rest_valid(p) || !lines_valid(p))
		return -EINVAL;
	/* Once for the walk that sums, once for the order of what it has summed. */
	err = profile__connect(p);
	if (err)
		return err;
	return sum_nodes(p) == p->nodes_cnt - 1 ? profile__connect(p) : -EINVAL;
}

int decode__profile(const uint8_t *data, size_t len, struct memory *m, struct profile **out)
{
	struct profile *p = calloc(1, sizeof(*p));
	struct parts s = {0};
	int err, keep_err;

	if (!p)
		return -ENOMEM;
	err = read_parts(data, len, m, p, &s);
	if (!err)
		err = build(p, &s, m);
	keep_err = keep_parts(&s, m);
	if (!err)
		err = keep_err;
	if (err)
		profile__free(p);
	else
		*out = p;
	return err;
}

/* One row of `l` and, if there is a place, a list of strings. */
static int read_row(const uint8_t *data, size_t len, struct memory *m, const struct layout *l,
		    void *row, const struct table_place *list)
{
	struct table_reader t = {.at = data, .end = data + len, .memory = m};
	void *rows = NULL;
	size_t cnt = 0;
	struct table_place places[2] = {{l, 0, &rows, &cnt}};
	int err;

	if (list)
		places[1] = *list;
	err = table_reader__read(&t, places, list ? 2 : 1);
	if (!err && cnt != 1)
		err = -EINVAL;
	if (!err)
		memcpy(row, rows, l->size);
	free(rows);
	return err;
}

int decode__run_info(const uint8_t *data, size_t len, struct memory *m, struct run_info *f)
{
	void *args = NULL;
	size_t cnt = 0;
	const struct table_place list = {&layout_args, 0, &args, &cnt};
	int err = read_row(data, len, m, &layout_run_info, f, &list);

	if (args && memory__keep(m, args))
		return -ENOMEM;
	f->args = args;
	f->args_cnt = err ? 0 : cnt;
	return err;
}

int decode__end(const uint8_t *data, size_t len, struct memory *m, struct run_end *e)
{
	return read_row(data, len, m, &layout_end, e, NULL);
}
