// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The whole profile as one JSON document on one line: a contract with other programs. Fields may
 * be added, never changed. Trees are written during a walk, so that their depth costs no memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "calls/walk.h"
#include "sink/sink.h"
#include "sink/stream.h"
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

static void write_function(struct json *j, const struct profile_function *f, uint32_t id)
{
	const struct call_stats *s = &f->stats;

	json_open(j, '{');
	json_member_u64(j, "id", id);
	json_member_string(j, "name", f->name ? f->name : "");
	json_member_string(j, "symbol", f->symbol ? f->symbol : "");
	json_member_string(j, "module", f->module ? f->module : "");
	json_member_u64(j, "offset", f->offset);
	json_member_string(j, "file", f->file);
	json_key(j, "line");
	if (f->line)
		json_u64(j, f->line);
	else
		json_null(j);
	json_member_u64(j, "calls", s->calls);
	json_member_u64(j, "total_ns", s->total_ns);
	json_member_u64(j, "self_ns", s->self_ns);
	json_member_u64(j, "min_ns", s->min_ns == UINT64_MAX ? 0 : s->min_ns);
	json_member_u64(j, "max_ns", s->max_ns);
	json_member_open(j, "aliases", '[');
	for (size_t i = 0; i < f->aliases_cnt; i++)
		json_string(j, f->aliases[i]);
	json_close(j, ']');
	json_close(j, '}');
}

/* Lists the functions that were seen. Sets ids[] to their numbers in the document, which have no
 * gaps: functions[i].id is i. */
static void write_functions(struct json *j, const struct profile *p, uint32_t *ids)
{
	uint32_t id = 0;
	size_t i;

	for (i = 1; i < p->nodes_cnt; i++)
		ids[p->nodes[i].function] = 1;
	json_member_open(j, "functions", '[');
	for (i = 0; i < p->functions_cnt; i++) {
		if (!ids[i] && !p->functions[i].stats.calls)
			continue;
		write_function(j, &p->functions[i], id);
		ids[i] = id++;
	}
	json_close(j, ']');
}

static void open_node(struct json *j, const struct profile_node *n, uint32_t node, uint32_t id)
{
	json_open(j, '{');
	json_member_u64(j, "id", node);
	json_member_u64(j, "function", id);
	json_member_u64(j, "calls", n->stats.calls);
	json_member_u64(j, "total_ns", n->stats.total_ns);
	json_member_u64(j, "self_ns", n->stats.self_ns);
	json_member_open(j, "children", '[');
}

static void write_thread(struct json *j, const struct profile *p, const struct profile_thread *t,
			 const uint32_t *ids)
{
	struct walk w = walk__from(p, t->first_root);

	json_open(j, '{');
	json_key(j, "pid");
	json_i64(j, t->pid);
	json_key(j, "tid");
	json_i64(j, t->goroutine ? (int64_t)t->goroutine : t->tid);
	json_member_string(j, "comm", t->comm);
	if (t->goroutine)
		json_member_u64(j, "goroutine", t->goroutine);
	json_member_open(j, "calls", '[');
	while (walk__next(&w) && !ferror_unlocked(j->out)) {
		const struct profile_node *n = &p->nodes[w.node];

		if (w.entering) {
			open_node(j, n, w.node, ids[n->function]);
		} else {
			json_close(j, ']');
			json_close(j, '}');
		}
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void write_accounting(struct json *j, const struct profile_accounting *a)
{
	json_member_open(j, "accounting", '{');
	json_member_u64(j, "entered", a->entered);
	json_member_u64(j, "returned", a->returned);
	json_member_u64(j, "unwound", a->unwound);
	json_key(j, "open");
	json_i64(j, a->open);
	json_member_u64(j, "lost", a->lost);
	json_member_u64(j, "deep", a->deep);
	json_close(j, '}');
}

static void write_probes(struct json *j, const struct profile_probes *probes)
{
	size_t i;

	json_member_open(j, "probes", '{');
	json_member_u64(j, "functions", probes->functions);
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
	uint32_t *ids;
	size_t i;

	ids = calloc(p->functions_cnt + 1, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	stream__begin();
	json_open(&j, '{');
	json_member_u64(&j, "schema", JSON_SCHEMA);
	json_member_string(&j, "proftrace", PROFTRACE_VERSION);
	write_target(&j, &p->target);
	json_key(&j, "start_time");
	json_double(&j, p->start_time);
	json_member_u64(&j, "duration_ns", p->duration_ns);
	write_functions(&j, p, ids);
	json_member_open(&j, "threads", '[');
	for (i = 0; i < p->threads_cnt; i++)
		if (p->threads[i].first_root)
			write_thread(&j, p, &p->threads[i], ids);
	json_close(&j, ']');
	write_accounting(&j, &p->accounting);
	write_probes(&j, &p->probes);
	json_close(&j, '}');
	fputc('\n', out);
	free(ids);
	return stream__end(out);
}

const struct sink sink_json = {
	.name = "json",
	.help = "everything, for programs",
	.write = write_json,
};
