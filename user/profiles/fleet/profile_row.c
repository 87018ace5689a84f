// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths are sent as a tree, depth first, of which the database makes their numbers: so a path takes
 * two bytes, not the five of its number, and figures of neighbours, which are alike, compress well.
 * Functions and latencies are sent by numbers, in their order.
 */
#include "fleet/profile_row.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "fleet/id_set.h"
#include "fleet/kind.h"
#include "fleet/path_ids.h"
#include "fleet/path_tree.h"
#include "fleet/row_binary.h"
#include "record/reader.h"
#include "util/hash.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char functions_columns[] = "function,name,symbol,module,file,line,kind";
const char paths_columns[] = "t_names,t_name,t_size,t_fresh,t_thread,t_spans";

#define OF_ACCOUNTS(member)                                                             \
	{                                                                               \
		.name = #member, .offset = offsetof(struct profile, accounting.member), \
	}
/* Not all accounts there are: the tables stay as they are when one is added. */
const struct row_column row_sums[ROW_SUMS] = {
	{.name = "duration_ns", .offset = offsetof(struct profile, duration_ns)},
	OF_ACCOUNTS(entered),
	OF_ACCOUNTS(returned),
	OF_ACCOUNTS(unwound),
	OF_ACCOUNTS(open),
	OF_ACCOUNTS(lost),
	OF_ACCOUNTS(deep),
	OF_ACCOUNTS(dropped),
	OF_ACCOUNTS(undistributed),
	OF_ACCOUNTS(untriggered),
	OF_ACCOUNTS(cpu_ns),
	OF_ACCOUNTS(probe_ns),
	OF_ACCOUNTS(sample_ns),
	OF_ACCOUNTS(samples_taken),
	OF_ACCOUNTS(samples_probing),
	OF_ACCOUNTS(samples_lost),
	OF_ACCOUNTS(samples_whole),
	OF_ACCOUNTS(samples_no_rule),
	OF_ACCOUNTS(samples_unreadable),
	OF_ACCOUNTS(samples_astray),
	OF_ACCOUNTS(samples_deep),
	OF_ACCOUNTS(samples_unknown),
	OF_ACCOUNTS(waits),
	OF_ACCOUNTS(waits_lost),
	OF_ACCOUNTS(bursts),
	OF_ACCOUNTS(burst_ns),
};

#define OF_STATS(text, member)                                               \
	{                                                                    \
		.name = text, .offset = offsetof(struct call_stats, member), \
	}
static const struct row_column of_paths[] = {
	OF_STATS("p_calls", calls),
	{.name = "p_self_ns", .offset = offsetof(struct call_stats, self_ns), .rounded = true},
	{.name = "p_off_ns", .offset = offsetof(struct call_stats, off_self_ns), .rounded = true},
	OF_STATS("p_samples", samples),
	{.name = "p_sampled_ns",
	 .offset = offsetof(struct call_stats, sampled_ns),
	 .rounded = true},
	OF_STATS("p_varied_ns", varied_ns),
	OF_STATS("p_burst_calls", burst_calls),
	{.name = "p_calls_variance",
	 .offset = offsetof(struct call_stats, calls_varied),
	 .is_double = true},
};

static const struct row_column of_functions[] = {
	OF_STATS("f_calls", calls),	OF_STATS("f_total_ns", total_ns),
	OF_STATS("f_self_ns", self_ns), OF_STATS("f_off_ns", off_ns),
	OF_STATS("f_min_ns", min_ns),	OF_STATS("f_max_ns", max_ns),
};

static void print_names(FILE *out, const struct row_column *columns, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		fprintf(out, ",%s", columns[i].name);
}

static const char *const tables[ROW_TABLES] = {
	[ROW_PATHS] = "profile_paths",
	[ROW_FUNCTIONS] = "profile_functions",
	[ROW_LATENCIES] = "profile_latencies",
	[ROW_PROFILE] = "profiles",
};

const char *profile_row__table(enum row_table table)
{
	return tables[table];
}

const char *profile_row__sent_to(enum row_table table)
{
	return table == ROW_PATHS ? "profile_trees" : tables[table];
}

static void print_columns(FILE *out, enum row_table table)
{
	fputs("id,service,version,host,kernel,time", out);
	switch (table) {
	case ROW_PATHS:
		fputs(",t_only,t_mark,period_ns,t_names,t_name,t_size,p_probe_ns,p_error_ns", out);
		print_names(out, of_paths, COUNT(of_paths));
		break;
	case ROW_FUNCTIONS:
		fputs(",f_function", out);
		print_names(out, of_functions, COUNT(of_functions));
		fputs(",f_dropped", out);
		break;
	case ROW_LATENCIES:
		fputs(",l_function,l_bucket,l_calls", out);
		break;
	default:
		fputs(",period_ns", out);
		print_names(out, row_sums, ROW_SUMS);
	}
}

char *profile_row__columns(enum row_table table)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	print_columns(out, table);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static uint64_t value(const void *base, const struct row_column *c)
{
	uint64_t v;
	double d;

	memcpy(&v, (const char *)base + c->offset, sizeof(v));
	if (!c->is_double)
		return v;
	memcpy(&d, &v, sizeof(d));
	return d < (double)INT64_MAX ? (uint64_t)d : INT64_MAX;
}

/* Bits of `v` below its highest `keep`. */
static int excess_bits(uint64_t v, int keep)
{
	int bits = v ? 64 - __builtin_clzll(v) : 0;

	return bits > keep ? bits - keep : 0;
}

/* Errors and what probes cost are no better known than that: rounded up to three bits. */
static uint64_t round_up(uint64_t ns)
{
	int drop = excess_bits(ns, 3);

	return ns > UINT64_MAX >> 1 ? ns : (ns + (1ull << drop) - 1) >> drop << drop;
}

/* A time without the bits that its error leaves no meaning: rounded by an eighth of that at most.
 */
static uint64_t round_by(uint64_t ns, uint64_t error_ns)
{
	int drop = excess_bits(error_ns / 4, 1);

	return ns > UINT64_MAX >> 1 || !drop ? ns : (ns + (1ull << (drop - 1))) >> drop << drop;
}

void functions_rows(const struct profile *p, const struct path_ids *ids, const struct id_set *known,
		    struct rows *out)
{
	bool *met = calloc(p->functions_cnt + 1, sizeof(*met));

	if (!met)
		out->failed = true;
	for (size_t i = 1; met && i < p->nodes_cnt; i++)
		met[p->nodes[i].function] = true;
	for (size_t i = 0; met && i < p->functions_cnt; i++) {
		const struct profile_function *f = &p->functions[i];

		if (!met[i] || id_set__has(known, ids->functions[i]))
			continue;
		rows__u64(out, ids->functions[i]);
		rows__string(out, f->name);
		rows__string(out, f->symbol);
		rows__string(out, f->module);
		rows__string(out, f->file);
		rows__u32(out, f->line);
		rows__u8(out, f->kind);
	}
	free(met);
}

/* Marks paths that are not `known` as fresh, and these and their callers as kept. Returns how many
 * are fresh. */
static size_t find_fresh(const struct profile *p, const struct path_ids *ids,
			 const struct id_set *known, bool *fresh, bool *kept)
{
	size_t cnt = 0;

	for (uint32_t i = 1; i < p->nodes_cnt; i++) {
		if (id_set__has(known, ids->paths[i]))
			continue;
		fresh[i] = true;
		cnt++;
		for (uint32_t n = i; n && !kept[n]; n = p->nodes[n].parent)
			kept[n] = true;
	}
	return cnt;
}

void paths_rows(const struct profile *p, const struct path_ids *ids, const struct id_set *known,
		struct rows *out)
{
	bool *fresh = calloc(p->nodes_cnt + 1, sizeof(*fresh));
	bool *kept = calloc(p->nodes_cnt + 1, sizeof(*kept));
	struct path_tree tree = {0};

	if (!fresh || !kept) {
		out->failed = true;
	} else if (find_fresh(p, ids, known, fresh, kept)) {
		if (path_tree__make(&tree, p, kept))
			out->failed = true;
		else
			path_tree__write(&tree, p, ids, out);
		if (!out->failed)
			path_tree__write_threads(&tree, p, fresh, out);
	}
	path_tree__clear(&tree);
	free(fresh);
	free(kept);
}

static int by_id(const void *a, const void *b, void *ids)
{
	const uint64_t *of = ids;
	uint64_t x = of[*(const uint32_t *)a], y = of[*(const uint32_t *)b];

	return (x > y) - (x < y);
}

uint32_t profile_row__time(const struct shipment *s)
{
	double start = s->run->profile->start_time;

	return start > 0 && start < UINT32_MAX ? (uint32_t)start : 0;
}

uint64_t profile_row__mark(const struct shipment *s)
{
	uint64_t hash = hash__add(HASH_BEGIN, &s->id, sizeof(s->id));

	/* With their NULs: so "a", "bc" and "ab", "c" differ. */
	hash = hash__add(hash, s->service, strlen(s->service) + 1);
	return hash__mix(hash__add(hash, s->host, strlen(s->host) + 1));
}

static void write_head(const struct shipment *s, struct rows *out)
{
	rows__u64(out, s->id);
	rows__string(out, s->service);
	rows__string(out, s->version);
	rows__string(out, s->host);
	rows__string(out, s->kernel);
	rows__u32(out, profile_row__time(s));
}

static void write_sums(const struct profile *p, struct rows *out)
{
	rows__u64(out, p->sample_period_ns);
	for (size_t i = 0; i < ROW_SUMS; i++)
		rows__u64(out, value(p, &row_sums[i]));
}

static void write_ids(const uint64_t *ids, const uint32_t *order, size_t cnt, struct rows *out)
{
	rows__count(out, cnt);
	for (size_t i = 0; i < cnt; i++)
		rows__u64(out, ids[order[i]]);
}

static int write_paths(const struct profile *p, const struct path_ids *ids, struct rows *out)
{
	struct path_tree tree;
	int err = path_tree__make(&tree, p, NULL);

	rows__u64(out, p->sample_period_ns);
	if (!err)
		path_tree__write(&tree, p, ids, out);
	rows__count(out, tree.paths_cnt);
	for (size_t i = 0; i < tree.paths_cnt; i++) {
		const struct call_stats *n = &p->nodes[tree.paths[i]].stats;

		rows__u64(out,
			  round_up(n->raw_self_ns > n->self_ns ? n->raw_self_ns - n->self_ns : 0));
	}
	rows__count(out, tree.paths_cnt);
	for (size_t i = 0; i < tree.paths_cnt; i++)
		rows__u64(out, round_up(p->nodes[tree.paths[i]].stats.self_error_ns));
	for (size_t c = 0; c < COUNT(of_paths); c++) {
		rows__count(out, tree.paths_cnt);
		for (size_t i = 0; i < tree.paths_cnt; i++) {
			const struct call_stats *n = &p->nodes[tree.paths[i]].stats;
			uint64_t v = value(n, &of_paths[c]);

			rows__u64(out, of_paths[c].rounded ? round_by(v, n->self_error_ns) : v);
		}
	}
	path_tree__clear(&tree);
	return err;
}

static void write_functions(const struct profile *p, const uint64_t *ids, uint32_t *order,
			    const bool *dropped, struct rows *out)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct call_stats *s = &p->functions[i].stats;

		if (s->calls || s->total_ns || s->samples)
			order[cnt++] = i;
	}
	qsort_r(order, cnt, sizeof(*order), by_id, (void *)ids);
	write_ids(ids, order, cnt, out);
	for (size_t c = 0; c < COUNT(of_functions); c++) {
		rows__count(out, cnt);
		for (size_t i = 0; i < cnt; i++)
			rows__u64(out, value(&p->functions[order[i]].stats, &of_functions[c]));
	}
	rows__count(out, cnt);
	for (size_t i = 0; i < cnt; i++)
		rows__u64(out, dropped[order[i]]);
}

static void write_latencies(const struct profile *p, const uint64_t *ids, struct rows *out)
{
	rows__count(out, p->buckets_cnt);
	for (size_t i = 0; i < p->buckets_cnt; i++)
		rows__u64(out, ids[p->buckets[i].function]);
	rows__count(out, p->buckets_cnt);
	for (size_t i = 0; i < p->buckets_cnt; i++)
		rows__u64(out, p->buckets[i].bucket);
	rows__count(out, p->buckets_cnt);
	for (size_t i = 0; i < p->buckets_cnt; i++)
		rows__u64(out, p->buckets[i].calls);
}

int profile_row(const struct shipment *s, enum row_table table, enum row_lack lack,
		const struct profile *p, const struct path_ids *ids, struct rows *out)
{
	uint32_t *order = calloc(p->functions_cnt + 1, sizeof(*order));
	bool *dropped = calloc(p->functions_cnt + 1, sizeof(*dropped));
	int err = order && dropped ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < p->drops_cnt; i++)
		dropped[p->drops[i].function] = true;
	write_head(s, out);
	if (!err && table == ROW_PATHS) {
		rows__u8(out, lack);
		rows__u64(out, profile_row__mark(s));
		err = write_paths(p, ids, out);
	} else if (!err && table == ROW_FUNCTIONS) {
		write_functions(p, ids->functions, order, dropped, out);
	} else if (!err && table == ROW_LATENCIES) {
		write_latencies(p, ids->functions, out);
	} else if (!err) {
		write_sums(p, out);
	}
	free(order);
	free(dropped);
	return out->failed ? -ENOMEM : err;
}
