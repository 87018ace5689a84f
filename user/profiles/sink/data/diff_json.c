// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The whole comparison as one JSON document on one line; fields may be added, never changed.
 * Functions come by how much their own time has changed, noise last; paths callers first, each with
 * the number of its caller's path.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls/walk.h"
#include "diff/diff.h"
#include "sink/accounts.h"
#include "sink/diffs.h"
#include "sink/names.h"
#include "sink/stream.h"
#include "util/array.h"
#include "util/json.h"

#define JSON_SCHEMA 1
#define TARGET_NAME 1024
#define NAMED_DEPTH 1000 /* deeper paths are not spelt out: the callers' numbers tell them */

static void write_run(struct json *j, const char *key, const struct diff_run *run)
{
	const struct profile *p = run->profile;
	char target[TARGET_NAME];

	json_member_open(j, key, '{');
	json_member_string(j, "file", run->file);
	json_member_u64(j, "run", run->number);
	json_member_string(j, "target", target__name(&p->target, target, sizeof(target)));
	json_member_double(j, "start_time", p->start_time);
	json_member_u64(j, "duration_ns", p->duration_ns);
	accounts__json(j, p);
	json_close(j, '}');
}

static void write_stats(struct json *j, const char *key, const struct diff_figures *f, int run)
{
	const struct call_stats *s = &f->stats[run];

	json_key(j, key);
	if (!f->there[run]) {
		json_null(j);
		return;
	}
	json_open(j, '{');
	json_member_u64(j, "calls", s->calls);
	json_member_u64(j, "total_ns", s->total_ns);
	json_member_u64(j, "self_ns", s->self_ns);
	json_member_u64(j, "off_ns", s->off_ns);
	json_member_u64(j, "off_self_ns", s->off_self_ns);
	json_member_u64(j, "cpu_ns", stats__cpu_ns(s));
	json_member_u64(j, "cpu_self_ns", stats__cpu_self_ns(s));
	json_member_u64(j, "error_ns", s->error_ns);
	json_member_u64(j, "self_error_ns", s->self_error_ns);
	json_member_string(j, "source", estimate__source_name(f->estimates[run].source));
	json_member_u64(j, "calls_error", f->estimates[run].calls_error);
	json_member_u64(j, "cpu_error_ns", f->estimates[run].cpu_error_ns);
	json_close(j, '}');
}

static void write_change(struct json *j, const struct change *c)
{
	double percent;

	json_member_i64(j, "change_ns", c->ns);
	json_key(j, "change_percent");
	if (change__percent(c, &percent))
		json_double(j, percent);
	else
		json_null(j);
	json_member_u64(j, "noise_ns", c->noise_ns);
	json_member_u64(j, "change_error_ns", c->error_ns);
	json_member_bool(j, "noise", c->noise);
}

static void write_whole(struct json *j, const char *key, const struct change *c)
{
	json_member_open(j, key, '{');
	json_member_u64(j, "old_ns", c->old_ns);
	json_member_u64(j, "new_ns", c->new_ns);
	json_member_i64(j, "change_ns", c->ns);
	json_close(j, '}');
}

static void write_figures(struct json *j, const struct diff_figures *f)
{
	write_stats(j, "old", f, DIFF_OLD);
	write_stats(j, "new", f, DIFF_NEW);
	write_change(j, &f->self);
	json_member_open(j, "total", '{');
	write_change(j, &f->total);
	json_close(j, '}');
	json_member_i64(j, "calls_change", f->calls);
	json_member_bool(j, "calls_noise", f->calls_noise);
	json_member_bool(j, "unseen", f->unseen);
}

/* ids[] become the functions' numbers in the document. */
static int write_functions(struct json *j, const struct diff *d, uint32_t *ids)
{
	struct diff_ranking r;
	int err = diff__rank(d->functions, 0, d->both->functions_cnt, DIFF_BY_SELF, &r);

	if (err)
		return err;
	json_member_open(j, "functions", '[');
	for (size_t i = 0; i < r.cnt && !ferror_unlocked(j->out); i++) {
		const struct profile_function *f = &d->both->functions[r.rows[i]];

		ids[r.rows[i]] = i;
		json_open(j, '{');
		json_member_u64(j, "id", i);
		json_member_string(j, "name", f->name ? f->name : "");
		json_member_string(j, "symbol", profile_function__symbol(f));
		json_member_string(j, "module", f->module ? f->module : "");
		write_figures(j, &d->functions[r.rows[i]]);
		json_member_bool(j, "estimate", d->functions[r.rows[i]].sampled);
		json_close(j, '}');
	}
	json_close(j, ']');
	free(r.rows);
	return 0;
}

/* The nodes from the outermost call down to the current one. */
struct trail {
	uint32_t *nodes;
	size_t cap;
};

static void write_path(struct json *j, const struct diff *d, const struct walk *w,
		       const struct trail *trail, const uint32_t *ids)
{
	const struct profile_node *n = &d->both->nodes[w->node];
	const struct profile_thread *thread = &d->both->threads[n->thread];

	json_open(j, '{');
	json_member_u64(j, "id", w->node);
	json_key(j, "caller");
	if (n->parent)
		json_u64(j, n->parent);
	else
		json_null(j);
	json_member_u64(j, "function", ids[n->function]);
	json_member_string(j, "comm", thread->comm);
	if (thread->spans)
		json_member_bool(j, "spans", true);
	json_key(j, "path");
	if (w->depth >= NAMED_DEPTH) {
		json_null(j);
	} else {
		json_open(j, '[');
		for (uint32_t i = 0; i <= w->depth; i++) {
			uint32_t function = d->both->nodes[trail->nodes[i]].function;

			json_string(j, function__name(&d->both->functions[function]));
		}
		json_close(j, ']');
	}
	write_figures(j, &d->paths[w->node]);
	json_close(j, '}');
}

static int write_thread(struct json *j, const struct diff *d, const struct profile_thread *t,
			struct trail *trail, const uint32_t *ids)
{
	struct walk w = walk__from(d->both, t->first_root);

	while (walk__next(&w) && !ferror_unlocked(j->out)) {
		if (!w.entering)
			continue;
		if (ARRAY_RESERVE(&trail->nodes, w.depth, &trail->cap))
			return -ENOMEM;
		trail->nodes[w.depth] = w.node;
		if (!d->paths[w.node].hidden)
			write_path(j, d, &w, trail, ids);
	}
	return 0;
}

static int write_paths(struct json *j, const struct diff *d, const uint32_t *ids)
{
	struct trail trail = {0};
	int err = 0;

	json_member_open(j, "paths", '[');
	for (size_t i = 0; i < d->both->threads_cnt && !err; i++)
		err = write_thread(j, d, &d->both->threads[i], &trail, ids);
	json_close(j, ']');
	free(trail.nodes);
	return err;
}

static void write_left_out(struct json *j, const struct diff *d)
{
	json_member_open(j, "left_out", '[');
	for (size_t i = 0; i < d->left_out_cnt; i++) {
		const struct diff_left_out *l = &d->left_out[i];
		const struct profile_function *f = &d->both->functions[l->function];

		json_open(j, '{');
		json_member_string(j, "name", f->name ? f->name : "");
		json_member_string(j, "module", f->module ? f->module : "");
		json_member_string(j, "old", l->reason[DIFF_OLD]);
		json_member_string(j, "new", l->reason[DIFF_NEW]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

int diff_json__write(const struct diff *d, const struct sink_options *opts, FILE *out)
{
	static const char *const times[] = {
		[DIFF_WALL] = "wall", [DIFF_CPU] = "cpu", [DIFF_OFF] = "off"};
	uint32_t *ids = calloc(d->both->functions_cnt + 1, sizeof(*ids));
	struct json j = JSON_INIT(out);
	int err;

	if (!ids)
		return -ENOMEM;
	stream__begin();
	json_open(&j, '{');
	json_member_u64(&j, "schema", JSON_SCHEMA);
	json_member_string(&j, "proftrace", PROFTRACE_VERSION);
	json_member_string(&j, "compared", times[d->opts.time]);
	json_member_bool(&j, "per_call", d->opts.per_call);
	write_run(&j, "old", &d->runs[DIFF_OLD]);
	write_run(&j, "new", &d->runs[DIFF_NEW]);
	write_whole(&j, "traced", &d->whole);
	write_whole(&j, "traced_cpu", &d->whole_cpu);
	err = write_functions(&j, d, ids);
	if (!err)
		err = write_paths(&j, d, ids);
	write_left_out(&j, d);
	json_close(&j, '}');
	fputc('\n', out);
	free(ids);
	return err ? err : stream__end(out);
}
