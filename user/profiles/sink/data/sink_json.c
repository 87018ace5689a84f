// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The whole profile as one JSON document on one line: a contract with other programs. Fields may
 * be added, never changed. Trees are written during a walk, so that their depth costs no memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/distribution.h"
#include "calls/estimate.h"
#include "calls/profile.h"
#include "calls/walk.h"
#include "sink/accounts.h"
#include "sink/call_marks.h"
#include "sink/data/lines_json.h"
#include "sink/diffs.h"
#include "sink/listing.h"
#include "sink/sessions.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "sink/text/cpu_shares.h"
#include "util/json.h"

#define JSON_SCHEMA 1

static void write_target(struct json *j, const struct profile_target *t)
{
	char *const *arg;
	size_t i;

	json_member_open(j, "target", '{');
	json_member_open(j, "pids", '[');
	for (i = 0; i < t->pids_cnt; i++)
		json_i64(j, t->pids[i]);
	json_close(j, ']');
	json_member_string(j, "exec", t->exec);
	json_key(j, "command");
	if (t->command) {
		json_open(j, '[');
		for (arg = t->command; *arg; arg++)
			json_string(j, *arg);
		json_close(j, ']');
	} else {
		json_null(j);
	}
	json_close(j, '}');
}

/* Writes the members that paths and functions share, but for those of the first version. */
static void write_times(struct json *j, const struct call_stats *s)
{
	json_member_u64(j, "off_ns", s->off_ns);
	json_member_u64(j, "off_self_ns", s->off_self_ns);
	json_member_u64(j, "cpu_ns", stats__cpu_ns(s));
	json_member_u64(j, "cpu_self_ns", stats__cpu_self_ns(s));
	json_member_u64(j, "raw_total_ns", s->raw_total_ns);
	json_member_u64(j, "raw_self_ns", s->raw_self_ns);
	json_member_u64(j, "error_ns", s->error_ns);
	json_member_u64(j, "self_error_ns", s->self_error_ns);
}

/* Writes the source of figures; a caller that is known from stacks alone has no figures. */
static void write_source(struct json *j, const struct profile *p, const struct call_stats *s)
{
	const struct estimate e = estimate__of(p, s);

	if (!estimate__any(p))
		return;
	json_member_string(j, "source", estimate__source_name(e.source));
	json_member_u64(j, "samples", s->samples);
	json_member_u64(j, "calls_error", e.calls_error);
	json_member_u64(j, "cpu_error_ns", e.cpu_error_ns);
}

static void write_distribution(struct json *j, const struct distribution *d,
			       const struct call_stats *s)
{
	json_member_u64(j, "p50_ns", distribution__quantile(d, 0.5, s->min_ns, s->max_ns));
	json_member_u64(j, "p90_ns", distribution__quantile(d, 0.9, s->min_ns, s->max_ns));
	json_member_u64(j, "p99_ns", distribution__quantile(d, 0.99, s->min_ns, s->max_ns));
	json_member_open(j, "histogram", '[');
	for (size_t i = 0; i < d->cnt; i++) {
		json_open(j, '[');
		json_u64(j, bucket__low(d->buckets[i].bucket));
		json_u64(j, bucket__high(d->buckets[i].bucket));
		json_u64(j, d->buckets[i].calls);
		json_close(j, ']');
	}
	json_close(j, ']');
}

/* With bursts, calls may be an estimate of the whole run, and single calls are those recorded. */
static void write_basis(struct json *j, const struct profile *p, const struct distribution *d,
			const struct profile_function *f)
{
	uint64_t ns;

	if (!estimate__any(p))
		return;
	json_member_string(j, "durations", distribution__basis(d));
	json_key(j, "avg_ns");
	if (distribution__average(d, f, 0, &ns))
		json_u64(j, ns);
	else
		json_null(j);
}

static void write_names(struct json *j, const struct profile_function *f)
{
	json_member_string(j, "name", f->name ? f->name : "");
	json_member_string(j, "symbol", profile_function__symbol(f));
	json_member_string(j, "module", f->module ? f->module : "");
	json_member_u64(j, "offset", f->offset);
	json_member_string(j, "file", f->file);
	json_key(j, "line");
	if (f->line)
		json_u64(j, f->line);
	else
		json_null(j);
}

static void write_function(struct json *j, const struct profile *p, uint32_t function,
			   const struct listing *l)
{
	const struct profile_function *f = &p->functions[function];
	const struct distribution d = distribution__of(p, function);
	const struct call_stats *s = &f->stats;

	json_open(j, '{');
	json_member_u64(j, "id", l->id);
	json_member_string(j, "kind", function_kind__name(f->kind));
	if (function_kind__of_stacks(f->kind) && !estimate__any(p))
		json_member_string(j, "source", "caller");
	write_names(j, f);
	json_member_u64(j, "calls", s->calls);
	json_member_u64(j, "total_ns", s->total_ns);
	json_member_u64(j, "self_ns", s->self_ns);
	json_member_u64(j, "min_ns", distribution__shortest(&d, s->min_ns));
	json_member_u64(j, "max_ns", distribution__longest(&d, s->max_ns));
	json_member_open(j, "aliases", '[');
	for (size_t i = 0; i < f->aliases_cnt; i++)
		json_string(j, f->aliases[i]);
	json_close(j, ']');
	write_times(j, s);
	write_source(j, p, s);
	write_distribution(j, &d, s);
	write_basis(j, p, &d, f);
	json_member_u64(j, "sampled", f->sampled);
	json_member_bool(j, "estimate", f->sampled != 0);
	json_member_bool(j, "dropped", l->dropped);
	json_member_bool(j, "whole", l->whole);
	if (!l->whole)
		json_member_u64(j, "whole_until_ns", l->whole_until_ns);
}

#define MARK_NAME 512

/* Writes a system call's marks: "errors":{"ENOENT":3}, or "files":{"/etc/hosts":2}. */
static void write_marks(struct json *j, const struct profile *p, const struct call_mark *marks,
			size_t cnt, bool files)
{
	bool any = false;

	for (size_t i = 0; i < cnt; i++) {
		const struct profile_function *f = &p->functions[marks[i].mark];
		char word[MARK_NAME];

		if (function__is_file(f) != files)
			continue;
		if (!any)
			json_member_open(j, files ? "files" : "errors", '{');
		any = true;
		if (files)
			snprintf(word, sizeof(word), "%s", f->symbol);
		else
			snprintf(word, sizeof(word), "%.*s", (int)strcspn(f->symbol + 1, "]"),
				 f->symbol + 1);
		json_member_u64(j, word, marks[i].calls);
	}
	if (any)
		json_close(j, '}');
}

static int write_functions(struct json *j, const struct profile *p, const struct listing *functions)
{
	size_t i, cnt, from = 0, to;
	struct call_mark *marks;
	int err = call_marks__new(p, &marks, &cnt);

	if (err)
		return err;
	json_member_open(j, "functions", '[');
	for (i = 0; i < p->functions_cnt; i++) {
		for (to = from; to < cnt && marks[to].function == i;)
			to++;
		if (functions[i].listed) {
			write_function(j, p, i, &functions[i]);
			if (to > from) {
				write_marks(j, p, &marks[from], to - from, false);
				write_marks(j, p, &marks[from], to - from, true);
			}
			json_close(j, '}');
		}
		from = to;
	}
	json_close(j, ']');
	free(marks);
	return 0;
}

static void open_node(struct json *j, const struct profile *p, uint32_t node, uint32_t id)
{
	const struct profile_node *n = &p->nodes[node];

	json_open(j, '{');
	json_member_u64(j, "id", node);
	json_member_u64(j, "function", id);
	json_member_u64(j, "calls", n->stats.calls);
	json_member_u64(j, "total_ns", n->stats.total_ns);
	json_member_u64(j, "self_ns", n->stats.self_ns);
	write_times(j, &n->stats);
	write_source(j, p, &n->stats);
	json_member_open(j, "children", '[');
}

static void write_thread(struct json *j, const struct profile *p, const struct profile_thread *t,
			 const struct listing *functions)
{
	struct walk w = walk__from(p, t->first_root);

	json_open(j, '{');
	json_member_i64(j, "pid", t->pid);
	json_member_i64(j, "tid", t->goroutine ? (int64_t)t->goroutine : t->tid);
	json_member_string(j, "comm", t->comm);
	if (t->goroutine)
		json_member_u64(j, "goroutine", t->goroutine);
	if (t->spans) {
		json_member_bool(j, "spans", true);
	}
	json_member_open(j, "calls", '[');
	while (walk__next(&w) && !ferror_unlocked(j->out)) {
		const struct profile_node *n = &p->nodes[w.node];

		if (w.entering) {
			open_node(j, p, w.node, functions[n->function].id);
		} else {
			json_close(j, ']');
			json_close(j, '}');
		}
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void write_drop(struct json *j, const struct profile *p, const struct profile_drop *d,
		       const struct listing *l)
{
	const struct profile_function *f = &p->functions[d->function];

	json_open(j, '{');
	json_key(j, "function");
	if (l->listed)
		json_u64(j, l->id);
	else
		json_null(j);
	json_member_string(j, "name", f->name ? f->name : "");
	json_member_string(j, "module", f->module ? f->module : "");
	json_member_u64(j, "at_ns", d->at_ns);
	json_key(j, "back_ns");
	if (d->back_ns)
		json_u64(j, d->back_ns);
	else
		json_null(j);
	json_member_double(j, "calls_per_second", d->calls_per_second);
	json_member_double(j, "cost_percent", d->cost_percent);
	json_member_u64(j, "sampled", d->sampled);
	json_member_string(j, "reason", d->reason);
	json_close(j, '}');
}

static void write_probes(struct json *j, const struct profile_probes *probes)
{
	size_t i;

	json_member_open(j, "probes", '{');
	json_member_u64(j, "functions", probes->functions);
	json_member_u64(j, "instrumented", probes->instrumented);
	json_member_open(j, "sites", '{');
	for (i = 0; i < probes->sites_cnt; i++)
		json_member_u64(j, probes->sites[i].class_name, probes->sites[i].count);
	json_close(j, '}');
	json_member_open(j, "exits", '{');
	json_member_u64(j, "return", probes->exits_return);
	json_member_u64(j, "sites", probes->exits_sites);
	json_member_u64(j, "none", probes->exits_none);
	json_close(j, '}');
	json_member_open(j, "skipped", '[');
	for (i = 0; i < probes->skipped_cnt; i++) {
		json_open(j, '{');
		json_member_string(j, "name", probes->skipped[i].name);
		json_member_string(j, "reason", probes->skipped[i].reason);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static int write_json(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct json j = JSON_INIT(out);
	struct listing *functions;
	int err, written;
	size_t i;

	functions = listing__with_sessions(p);
	if (!functions)
		return -ENOMEM;
	stream__begin();
	json_open(&j, '{');
	json_member_u64(&j, "schema", JSON_SCHEMA);
	json_member_string(&j, "proftrace", PROFTRACE_VERSION);
	write_target(&j, &p->target);
	json_member_double(&j, "start_time", p->start_time);
	json_member_u64(&j, "duration_ns", p->duration_ns);
	json_member_u64(&j, "paused_ns", p->paused_ns);
	if (p->sample_period_ns)
		json_member_u64(&j, "sample_period_ns", p->sample_period_ns);
	err = write_functions(&j, p, functions);
	json_member_open(&j, "threads", '[');
	for (i = 0; i < p->threads_cnt; i++)
		if (p->threads[i].first_root)
			write_thread(&j, p, &p->threads[i], functions);
	json_close(&j, ']');
	accounts__json(&j, p);
	cpu_shares__json(&j, p);
	json_member_open(&j, "dropped", '[');
	for (i = 0; i < p->drops_cnt; i++)
		write_drop(&j, p, &p->drops[i], &functions[p->drops[i].function]);
	json_close(&j, ']');
	write_probes(&j, &p->probes);
	if (!err)
		err = lines_json__write(&j, p, functions);
	if (!err)
		err = sessions_json__write(&j, p, functions);
	json_close(&j, '}');
	fputc('\n', out);
	free(functions);
	written = stream__end(out);
	return err ? err : written;
}

const struct sink sink_json = {
	.name = "json",
	.help = "everything, for programs",
	.suffixes = (const char *const[]){".json", NULL},
	.shows_sessions = true,
	.write = write_json,
	.write_diff = diff_json__write,
};
