/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds profiles by hand and captures what a sink writes. Include cmocka's headers through it. */
#ifndef PROFTRACE_TESTS_FIXTURE_H
#define PROFTRACE_TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "calls/profile.h"
#include "calls/tree.h"
#include "sink/sink.h"

/* Room for one more, by doubling: some tests have very many. */
static inline void *fixture_grow(void *array, size_t cnt, size_t size)
{
	if (!(cnt & (cnt - 1)))
		array = reallocarray(array, cnt ? cnt * 2 : 1, size);
	assert_non_null(array);
	return array;
}

static inline struct profile *fixture_new(void)
{
	struct profile *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->nodes = calloc(1, sizeof(*p->nodes));
	p->nodes_cnt = 1;
	return p;
}

static inline uint32_t fixture_function(struct profile *p, const char *name)
{
	p->functions = fixture_grow(p->functions, p->functions_cnt, sizeof(*p->functions));
	p->functions[p->functions_cnt] = (struct profile_function){
		.name = name, .symbol = name, .module = "/usr/bin/prog", .offset = 4096};
	p->probes.functions++;
	return p->functions_cnt++;
}

static inline uint32_t fixture_thread(struct profile *p, pid_t pid, pid_t tid, const char *comm)
{
	struct profile_thread *t;

	p->threads = fixture_grow(p->threads, p->threads_cnt, sizeof(*p->threads));
	t = &p->threads[p->threads_cnt];
	*t = (struct profile_thread){.pid = pid, .tid = tid, .start_ns = 1000};
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	return p->threads_cnt++;
}

static inline uint32_t fixture_node(struct profile *p, uint32_t thread, uint32_t parent,
				    uint32_t function, uint64_t calls, uint64_t total_ns,
				    uint64_t self_ns)
{
	p->nodes = fixture_grow(p->nodes, p->nodes_cnt, sizeof(*p->nodes));
	p->nodes[p->nodes_cnt] = (struct profile_node){
		.parent = parent,
		.function = function,
		.thread = thread,
		.stats = {.calls = calls,
			  .total_ns = total_ns,
			  .self_ns = self_ns,
			  .raw_total_ns = total_ns,
			  .raw_self_ns = self_ns,
			  .min_ns = calls ? total_ns / calls : UINT64_MAX,
			  .max_ns = calls ? total_ns / calls : 0},
	};
	p->accounting.entered += calls;
	p->accounting.returned += calls;
	return p->nodes_cnt++;
}

/* Lines come in their order, inlined calls behind those that they are part of. */
static inline void fixture_line(struct profile *p, struct profile_line line)
{
	p->lines = fixture_grow(p->lines, p->lines_cnt, sizeof(*p->lines));
	p->lines[p->lines_cnt++] = line;
}

static inline uint32_t fixture_inline(struct profile *p, struct profile_inline call)
{
	p->inlines = fixture_grow(p->inlines, p->inlines_cnt, sizeof(*p->inlines));
	p->inlines[p->inlines_cnt++] = call;
	return p->inlines_cnt;
}

/* Buckets and drops come in their order. */
static inline void fixture_bucket(struct profile *p, uint32_t function, uint32_t bucket,
				  uint64_t calls)
{
	p->buckets = fixture_grow(p->buckets, p->buckets_cnt, sizeof(*p->buckets));
	p->buckets[p->buckets_cnt++] = (struct profile_bucket){function, bucket, calls};
}

static inline void fixture_drop(struct profile *p, struct profile_drop drop)
{
	p->drops = fixture_grow(p->drops, p->drops_cnt, sizeof(*p->drops));
	p->drops[p->drops_cnt++] = drop;
}

static inline void fixture_cpu_share(struct profile *p, struct profile_cpu_share share)
{
	p->cpu_shares = fixture_grow(p->cpu_shares, p->cpu_shares_cnt, sizeof(*p->cpu_shares));
	p->cpu_shares[p->cpu_shares_cnt++] = share;
}

static inline void fixture_estimate(struct profile *p, struct profile_estimate estimate)
{
	p->estimates = fixture_grow(p->estimates, p->estimates_cnt, sizeof(*p->estimates));
	p->estimates[p->estimates_cnt++] = estimate;
}

static inline void fixture_finish(struct profile *p)
{
	assert_int_equal(profile__connect(p), 0);
	assert_int_equal(profile__summarize(p), 0);
}

/* main calls work (3 times) and idle (once); work calls leaf. */
static inline struct profile *fixture_small(void)
{
	struct profile *p = fixture_new();
	uint32_t fmain = fixture_function(p, "main"), work = fixture_function(p, "work");
	uint32_t idle = fixture_function(p, "idle"), leaf = fixture_function(p, "leaf");
	uint32_t t = fixture_thread(p, 100, 101, "prog"), n, w;

	fixture_function(p, "never");
	n = fixture_node(p, t, 0, fmain, 1, 1000000, 100000);
	fixture_node(p, t, n, idle, 1, 200000, 200000);
	w = fixture_node(p, t, n, work, 3, 700000, 694000);
	fixture_node(p, t, w, leaf, 1234, 6000, 6000);
	p->duration_ns = 10000000000;
	p->start_time = 1700000000.25;
	fixture_finish(p);
	return p;
}

/* The sink's output, which the caller frees. */
static inline char *fixture_write(const struct sink *sink, const struct profile *p,
				  const struct sink_options *opts)
{
	FILE *out = tmpfile();
	char *text;
	long size;

	assert_non_null(out);
	assert_int_equal(sink->write(p, opts, out), 0);
	size = ftell(out);
	rewind(out);
	text = calloc(1, size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, size, out), size);
	fclose(out);
	return text;
}

static inline void fixture_expect(const struct sink *sink, const struct profile *p,
				  const struct sink_options *opts, const char *expected)
{
	char *text = fixture_write(sink, p, opts);

	assert_string_equal(text, expected);
	free(text);
}

#endif
