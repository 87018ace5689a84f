// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows become the arrays of a profile as a recording has them, which then goes through what checks
 * recordings: an answer is trusted no more than a file.
 */
#include "fleet/answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "fleet/profile_row.h"
#include "fleet/row_binary.h"
#include "record/checked.h"
#include "record/reader.h"
#include "util/array.h"
#include "util/log.h"

#define THREADS_MAX 10000 /* kinds of them */

/* Finds what has an id: open addressing, as many slots as fit twice what there is. */
struct index {
	struct index_slot {
		uint64_t id;
		uint32_t number; /* 0: free */
	} * slots;
	size_t mask;
};

struct build {
	struct profile p;
	size_t functions_cap, threads_cap, nodes_cap, buckets_cap, drops_cap;
	uint64_t *functions, *parents, *paths; /* of nodes: ids */
	struct index by_function, by_path;
	char title[256];
};

int answer__take(struct answer *a, enum answer_part part, const char *data)
{
	size_t len = a->parts[part].len;

	free(a->parts[part].data);
	a->parts[part].data = malloc(len + 1);
	if (!a->parts[part].data)
		return -ENOMEM;
	memcpy(a->parts[part].data, data, len);
	return 0;
}

void answer__free(struct answer *a)
{
	for (int i = 0; a && i < ANSWER_PARTS; i++)
		free(a->parts[i].data);
	free(a);
}

static struct rows_reader reader_of(const struct answer *a, enum answer_part part)
{
	uint8_t *data = (uint8_t *)a->parts[part].data;

	return (struct rows_reader){.at = data, .end = data + a->parts[part].len};
}

static int index_init(struct index *x, size_t cnt)
{
	size_t slots = 16;

	while (slots < 2 * cnt)
		slots *= 2;
	x->slots = calloc(slots, sizeof(*x->slots));
	x->mask = slots - 1;
	return x->slots ? 0 : -ENOMEM;
}

static uint32_t *index_at(struct index *x, uint64_t id)
{
	size_t i = id & x->mask;

	while (x->slots[i].number && x->slots[i].id != id)
		i = (i + 1) & x->mask;
	x->slots[i].id = id;
	return &x->slots[i].number;
}

/* Function 0 stands for those whose names are not there. */
static int read_names(struct build *b, struct rows_reader r)
{
	struct profile *p = &b->p;
	int err = index_init(&b->by_function, (size_t)(r.end - r.at) / 16);

	while (!err && (rows_reader__more(&r) || !p->functions_cnt)) {
		struct profile_function *f;
		uint64_t id;

		if (ARRAY_RESERVE(&p->functions, p->functions_cnt, &b->functions_cap))
			return -ENOMEM;
		f = &p->functions[p->functions_cnt];
		*f = (struct profile_function){.name = "[unknown]"};
		if (!p->functions_cnt++)
			continue;
		id = rows_reader__u64(&r);
		f->name = rows_reader__string(&r);
		f->symbol = rows_reader__string(&r);
		f->module = rows_reader__string(&r);
		f->file = rows_reader__string(&r);
		if (!*f->file)
			f->file = NULL;
		f->line = rows_reader__u32(&r);
		f->kind = rows_reader__u8(&r);
		*index_at(&b->by_function, id) = p->functions_cnt - 1;
	}
	return err ? err : r.failed ? -EINVAL : 0;
}

/* There are few. Returns its number, or -errno. */
static int find_thread(struct build *b, const char *name, bool spans)
{
	struct profile *p = &b->p;
	struct profile_thread *t;

	for (size_t i = 0; i < p->threads_cnt; i++) {
		t = &p->threads[i];
		if (t->spans == spans && !strncmp(t->comm, name, sizeof(t->comm) - 1))
			return i;
	}
	if (p->threads_cnt == THREADS_MAX)
		return -EFBIG;
	if (ARRAY_RESERVE(&p->threads, p->threads_cnt, &b->threads_cap))
		return -ENOMEM;
	t = &p->threads[p->threads_cnt++];
	*t = (struct profile_thread){
		.tid = p->threads_cnt,
		.spans = spans,
	};
	snprintf(t->comm, sizeof(t->comm), "%s", name);
	return p->threads_cnt - 1;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static struct call_stats read_stats(struct rows_reader *r, uint64_t period_ns)
{
	struct call_stats s = {.min_ns = UINT64_MAX};
	double variance;

	s.calls = rows_reader__u64(r);
	s.self_ns = rows_reader__u64(r);
	s.off_self_ns = least(rows_reader__u64(r), s.self_ns);
	s.raw_self_ns = s.self_ns + rows_reader__u64(r);
	s.self_error_ns = rows_reader__u64(r);
	s.samples = rows_reader__u64(r);
	s.sampled_ns = least(rows_reader__u64(r), s.self_ns);
	variance = rows_reader__f64(r);
	s.burst_calls = least(rows_reader__u64(r), s.calls);
	s.calls_varied = (double)rows_reader__u64(r);
	if (period_ns && variance > 0 && variance / (double)period_ns < 1e18)
		s.varied_ns = (uint64_t)(variance / (double)period_ns);
	return s;
}

static int reserve_node(struct build *b)
{
	size_t caps[] = {b->nodes_cap, b->nodes_cap, b->nodes_cap};

	if (b->p.nodes_cnt < b->nodes_cap)
		return 0;
	if (ARRAY_RESERVE(&b->functions, b->p.nodes_cnt, &caps[0]) ||
	    ARRAY_RESERVE(&b->parents, b->p.nodes_cnt, &caps[1]) ||
	    ARRAY_RESERVE(&b->paths, b->p.nodes_cnt, &caps[2]))
		return -ENOMEM;
	return ARRAY_RESERVE(&b->p.nodes, b->p.nodes_cnt, &b->nodes_cap);
}

static int read_paths(struct build *b, struct rows_reader r)
{
	struct profile *p = &b->p;
	int err = index_init(&b->by_path, (size_t)(r.end - r.at) / 64);

	if (!err)
		err = reserve_node(b);
	if (err)
		return err;
	p->nodes[0] = (struct profile_node){0};
	p->nodes_cnt = 1;
	while (rows_reader__more(&r)) {
		size_t at = p->nodes_cnt;
		const char *name;
		int thread;

		if (at > ANSWER_PATHS_MAX)
			return -EFBIG;
		if (reserve_node(b))
			return -ENOMEM;
		b->paths[at] = rows_reader__u64(&r);
		b->parents[at] = rows_reader__u64(&r);
		b->functions[at] = rows_reader__u64(&r);
		name = rows_reader__string(&r);
		thread = find_thread(b, name, rows_reader__u8(&r));
		if (thread < 0)
			return thread;
		p->nodes[at] = (struct profile_node){
			.function = *index_at(&b->by_function, b->functions[at]),
			.thread = thread,
			.stats = read_stats(&r, p->sample_period_ns),
		};
		*index_at(&b->by_path, b->paths[at]) = at;
		p->nodes_cnt++;
	}
	for (size_t i = 1; i < p->nodes_cnt; i++) {
		uint32_t parent = b->parents[i] ? *index_at(&b->by_path, b->parents[i]) : 0;

		/* A path with unknown steps has an unknown thread, too: it gets no parent. */
		if (parent != i && p->nodes[parent].thread == p->nodes[i].thread)
			p->nodes[i].parent = parent;
	}
	return r.failed ? -EINVAL : 0;
}

/* Paths have the bounds of their functions: those of paths are not kept. */
static int read_functions(struct build *b, struct rows_reader r)
{
	struct profile *p = &b->p;
	struct call_stats *bounds = calloc(p->functions_cnt, sizeof(*bounds));

	if (!bounds)
		return -ENOMEM;
	while (rows_reader__more(&r)) {
		uint32_t f = *index_at(&b->by_function, rows_reader__u64(&r));

		bounds[f].min_ns = rows_reader__u64(&r);
		bounds[f].max_ns = rows_reader__u64(&r);
		if (!rows_reader__u64(&r) || !f)
			continue;
		if (ARRAY_RESERVE(&p->drops, p->drops_cnt, &b->drops_cap)) {
			r.failed = true;
			break;
		}
		p->drops[p->drops_cnt++] =
			(struct profile_drop){.function = f, .reason = "in some of the profiles"};
	}
	for (size_t i = 1; i < p->nodes_cnt; i++) {
		const struct call_stats *s = &bounds[p->nodes[i].function];

		if (p->nodes[i].stats.calls && s->max_ns >= s->min_ns) {
			p->nodes[i].stats.min_ns = s->min_ns;
			p->nodes[i].stats.max_ns = s->max_ns;
		}
	}
	free(bounds);
	return r.failed ? -EINVAL : 0;
}

static int compare_buckets(const void *a, const void *b)
{
	const struct profile_bucket *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

static int read_latencies(struct build *b, struct rows_reader r)
{
	struct profile *p = &b->p;

	while (rows_reader__more(&r)) {
		struct profile_bucket bucket = {
			.function = *index_at(&b->by_function, rows_reader__u64(&r)),
			.bucket = rows_reader__u64(&r),
			.calls = rows_reader__u64(&r),
		};

		if (!bucket.function)
			continue;
		if (ARRAY_RESERVE(&p->buckets, p->buckets_cnt, &b->buckets_cap))
			return -ENOMEM;
		p->buckets[p->buckets_cnt++] = bucket;
	}
	if (p->buckets_cnt)
		qsort(p->buckets, p->buckets_cnt, sizeof(*p->buckets), compare_buckets);
	return r.failed ? -EINVAL : 0;
}

/* A title such as "api 1.3: 60 profiles of 2 hosts". */
static void write_title(struct build *b, const char *service, const char *version,
			uint64_t profiles, uint64_t hosts)
{
	snprintf(b->title, sizeof(b->title), "%s%s%s: %llu profiles of %llu host%s", service,
		 *version ? " " : "", version, (unsigned long long)profiles,
		 (unsigned long long)hosts, hosts == 1 ? "" : "s");
}

/* In the order of the query. */
static uint64_t read_sums(struct build *b, struct rows_reader r)
{
	struct profile *p = &b->p;
	uint64_t profiles = rows_reader__u64(&r), hosts = rows_reader__u64(&r), services, versions;
	const char *service, *version;

	p->start_time = rows_reader__u32(&r);
	p->sample_period_ns = rows_reader__u64(&r);
	services = rows_reader__u64(&r);
	service = rows_reader__string(&r);
	versions = rows_reader__u64(&r);
	version = rows_reader__string(&r);
	for (size_t i = 0; i < ROW_SUMS; i++) {
		uint64_t sum = rows_reader__u64(&r);

		memcpy((char *)p + row_sums[i].offset, &sum, sizeof(sum));
	}
	if (services != 1)
		write_title(b, "several services", "", profiles, hosts);
	else
		write_title(b, service, versions == 1 ? version : "in several versions", profiles,
			    hosts);
	p->target.exec = b->title;
	return r.failed ? 0 : profiles;
}

static int build(struct build *b, const struct answer *a)
{
	int err;

	if (!read_sums(b, reader_of(a, ANSWER_SUMS)))
		return -ENODATA;
	err = read_names(b, reader_of(a, ANSWER_NAMES));
	if (!err)
		err = read_paths(b, reader_of(a, ANSWER_PATHS));
	if (!err)
		err = read_functions(b, reader_of(a, ANSWER_FUNCTIONS));
	if (!err)
		err = read_latencies(b, reader_of(a, ANSWER_LATENCIES));
	return err;
}

static void clear(struct build *b)
{
	free(b->p.functions);
	free(b->p.threads);
	free(b->p.nodes);
	free(b->p.buckets);
	free(b->p.drops);
	free(b->functions);
	free(b->parents);
	free(b->paths);
	free(b->by_function.slots);
	free(b->by_path.slots);
}

int answer__read(struct answer *a, struct recorded *out)
{
	struct build b = {0};
	int err = build(&b, a);

	*out = (struct recorded){.end = {.reason = "asked for"}};
	if (!err)
		err = recorded__check(&b.p, out);
	out->run_info.start_time = b.p.start_time;
	clear(&b);
	if (err == -ENODATA)
		log_error("the database has no profiles that --where chooses");
	else if (err == -EFBIG)
		log_error("--where chooses more than %u paths: choose fewer profiles",
			  ANSWER_PATHS_MAX);
	else if (err == -EINVAL)
		log_error("the database's answer makes no sense as a profile, or adds up to more "
			  "than 292 years");
	if (err)
		recorded__free(out);
	for (size_t i = 0; !err && i < out->profile->threads_cnt; i++) {
		struct profile_thread *t = &out->profile->threads[i];

		snprintf(t->title, sizeof(t->title), "%s", t->comm);
	}
	return err;
}
