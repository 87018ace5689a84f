// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/data/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calls/distribution.h"
#include "calls/estimate.h"
#include "calls/function_glob.h"
#include "calls/profile.h"
#include "sink/names.h"
#include "util/array.h"
#include "util/utf8.h"

#define NAME_MAX_CHARS 256 /* of a label */

struct metrics {
	char *const *globs;
	size_t globs_cnt, max, own; /* own: of those that are not [others] */
	struct metrics_series *series;
	size_t cnt, cap;
	uint64_t left_out; /* functions of the last profile that have no series */
};

int metrics__new(char *const *globs, size_t globs_cnt, size_t functions_max, struct metrics **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->globs = globs;
	(*out)->globs_cnt = globs_cnt;
	(*out)->max = functions_max;
	return 0;
}

void metrics__free(struct metrics *m)
{
	for (size_t i = 0; m && i < m->cnt; i++) {
		free(m->series[i].service);
		free(m->series[i].function);
		free(m->series[i].object);
	}
	if (m)
		free(m->series);
	free(m);
}

static const char *object_of(const struct profile_function *f)
{
	const char *slash = f->module ? strrchr(f->module, '/') : NULL;

	return slash ? slash + 1 : f->module ? f->module : "";
}

/* What tells series apart; borrowed. */
struct key {
	const char *service, *function, *object;
	bool region, others;
};

static bool has_key(const struct metrics_series *s, const struct key *k)
{
	return s->region == k->region && s->others == k->others &&
	       !strcmp(s->function, k->function) && !strcmp(s->object, k->object) &&
	       !strcmp(s->service, k->service);
}

/* Where no function of that name has a series, and there is room, it gets one. NULL: it has none;
 * *err is set if there was no memory. */
static struct metrics_series *find(struct metrics *m, const struct key *k, int *err)
{
	struct metrics_series *s;

	for (size_t i = 0; i < m->cnt; i++) {
		if (has_key(&m->series[i], k))
			return &m->series[i];
	}
	if (!k->others && m->own >= m->max)
		return NULL;
	*err = -ENOMEM;
	if (ARRAY_RESERVE(&m->series, m->cnt, &m->cap))
		return NULL;
	s = &m->series[m->cnt];
	*s = (struct metrics_series){
		.service = strdup(k->service),
		.function = strdup(k->function),
		.object = strdup(k->object),
		.region = k->region,
		.others = k->others,
	};
	if (!s->service || !s->function || !s->object) {
		free(s->service);
		free(s->function);
		free(s->object);
		return NULL;
	}
	m->cnt++;
	m->own += !k->others;
	*err = 0;
	return s;
}

static void add_distribution(struct metrics_series *s, const struct profile *p, uint32_t function)
{
	struct distribution d = distribution__of(p, function);

	for (size_t i = 0; i < d.cnt; i++) {
		uint64_t high = bucket__high(d.buckets[i].bucket), calls = d.buckets[i].calls;
		uint64_t low = bucket__low(d.buckets[i].bucket);
		int k = 0;

		while (k < METRICS_BOUNDS && high > 1ull << (METRICS_FIRST_POWER + 2 * k))
			k++;
		if (k < METRICS_BOUNDS)
			s->below[k] += calls;
		s->finished += calls;
		s->finished_ns += (double)calls * ((double)low + (double)(high - low) / 2);
	}
}

static void add_function(struct metrics_series *s, const struct profile *p, uint32_t function)
{
	const struct call_stats *f = &p->functions[function].stats;

	s->calls += f->calls;
	s->self_ns += f->self_ns;
	s->cpu_self_ns += stats__cpu_self_ns(f);
	s->calls_variance += (double)f->calls_varied;
	s->cpu_variance += (double)f->varied_ns * (double)p->sample_period_ns;
	/* Those of several functions are no sum: callees are in their callers. */
	if (s->others)
		return;
	s->total_ns += f->total_ns;
	add_distribution(s, p, function);
}

static bool chosen(const struct metrics *m, const struct profile_function *f)
{
	bool match = !m->globs_cnt;

	for (size_t i = 0; i < m->globs_cnt && !match; i++)
		match = function_glob__matches(m->globs[i], f);
	return match && (f->stats.calls || f->stats.self_ns);
}

static int by_self(const void *a, const void *b, void *profile)
{
	const struct profile *p = profile;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t x = p->functions[i].stats.self_ns, y = p->functions[k].stats.self_ns;

	return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

int metrics__add(struct metrics *m, const struct profile *p, const char *service)
{
	uint32_t *order = calloc(p->functions_cnt + 1, sizeof(*order));
	size_t cnt = 0;
	int err = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (chosen(m, &p->functions[i]))
			order[cnt++] = i;
	}
	qsort_r(order, cnt, sizeof(*order), by_self, (void *)p);
	m->left_out = 0;
	for (size_t i = 0; i < cnt && !err; i++) {
		const struct profile_function *f = &p->functions[order[i]];
		const struct key own = {service, function__name(f), object_of(f),
					f->kind == FUNCTION_REGION, false};
		const struct key others = {service, "[others]", "", false, true};
		struct metrics_series *s = find(m, &own, &err);

		m->left_out += !s;
		if (!s && !err)
			s = find(m, &others, &err);
		if (!err)
			add_function(s, p, order[i]);
	}
	free(order);
	return err;
}

const char *metrics_series__kind(const struct metrics_series *s)
{
	return s->others ? "others" : s->region ? "region" : "function";
}

const struct metrics_series *metrics__series(const struct metrics *m, size_t *cnt,
					     uint64_t *left_out)
{
	*cnt = m->cnt;
	*left_out = m->left_out;
	return m->series;
}

/* A stranger's text as the value of a label. */
static void put_value(FILE *out, const char *text)
{
	char bytes[UTF8_MAX];
	size_t len = 0, cnt;

	putc('"', out);
	while (len++ < NAME_MAX_CHARS && (cnt = utf8_next_plain(&text, bytes))) {
		if (*bytes == '"' || *bytes == '\\')
			putc('\\', out);
		fwrite(bytes, 1, cnt, out);
	}
	putc('"', out);
}

/* A sample without its value; `le` NULL: no bucket. */
static void put_name(FILE *out, const char *name, const struct metrics_series *s, const char *le)
{
	fprintf(out, "proftrace_function_%s{service=", name);
	put_value(out, s->service);
	fputs(",function=", out);
	put_value(out, s->function);
	fputs(",object=", out);
	put_value(out, s->object);
	fprintf(out, ",kind=\"%s\"", metrics_series__kind(s));
	if (le)
		fprintf(out, ",le=\"%s\"", le);
	fputs("} ", out);
}

static void put_head(FILE *out, const char *name, const char *type, const char *unit,
		     const char *help)
{
	fprintf(out, "# TYPE proftrace_function_%s %s\n", name, type);
	if (unit)
		fprintf(out, "# UNIT proftrace_function_%s %s\n", name, unit);
	fprintf(out, "# HELP proftrace_function_%s %s\n", name, help);
}

static void put_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

/* A counter of ns, as seconds; `others`: also of those without series. */
static void write_times(const struct metrics *m, FILE *out, const char *name, const char *help,
			size_t offset, bool others)
{
	char sample[64];

	put_head(out, name, "counter", "seconds", help);
	snprintf(sample, sizeof(sample), "%s_total", name);
	for (size_t i = 0; i < m->cnt; i++) {
		uint64_t ns;

		if (m->series[i].others && !others)
			continue;
		memcpy(&ns, (const char *)&m->series[i] + offset, sizeof(ns));
		put_name(out, sample, &m->series[i], NULL);
		put_seconds(out, ns);
	}
}

static void write_calls(const struct metrics *m, FILE *out)
{
	put_head(out, "calls", "counter", NULL, "Calls.");
	for (size_t i = 0; i < m->cnt; i++) {
		/* Of what is known from samples alone nobody has counted them. */
		if (!m->series[i].calls)
			continue;
		put_name(out, "calls_total", &m->series[i], NULL);
		fprintf(out, "%" PRIu64 "\n", m->series[i].calls);
	}
}

/* Of what was counted or timed they are 0. */
static void write_errors(const struct metrics *m, FILE *out)
{
	put_head(out, "calls_error", "gauge", NULL,
		 "Standard error of calls_total, where calls are estimates.");
	for (size_t i = 0; i < m->cnt; i++) {
		if (!(m->series[i].calls_variance > 0))
			continue;
		put_name(out, "calls_error", &m->series[i], NULL);
		fprintf(out, "%.0f\n", sqrt(m->series[i].calls_variance));
	}
	put_head(out, "cpu_self_error_seconds", "gauge", "seconds",
		 "Standard error of cpu_self_seconds_total, where it comes from samples.");
	for (size_t i = 0; i < m->cnt; i++) {
		if (!(m->series[i].cpu_variance > 0))
			continue;
		put_name(out, "cpu_self_error_seconds", &m->series[i], NULL);
		fprintf(out, "%.9f\n", sqrt(m->series[i].cpu_variance) / 1e9);
	}
}

static void write_distribution(FILE *out, const struct metrics_series *s)
{
	uint64_t below = 0;
	char le[32];

	for (int k = 0; k < METRICS_BOUNDS; k++) {
		below += s->below[k];
		snprintf(le, sizeof(le), "%.12g", metrics__bound_s(k));
		put_name(out, "duration_seconds_bucket", s, le);
		fprintf(out, "%" PRIu64 "\n", below);
	}
	put_name(out, "duration_seconds_bucket", s, "+Inf");
	fprintf(out, "%" PRIu64 "\n", s->finished);
	put_name(out, "duration_seconds_count", s, NULL);
	fprintf(out, "%" PRIu64 "\n", s->finished);
	put_name(out, "duration_seconds_sum", s, NULL);
	fprintf(out, "%.9f\n", s->finished_ns / 1e9);
}

void metrics__write(const struct metrics *m, FILE *out)
{
	write_calls(m, out);
	write_times(m, out, "seconds", "Wall time of calls, with callees, of recursion once.",
		    offsetof(struct metrics_series, total_ns), false);
	write_times(m, out, "self_seconds", "Wall time without traced callees.",
		    offsetof(struct metrics_series, self_ns), true);
	write_times(m, out, "cpu_self_seconds", "CPU time without traced callees.",
		    offsetof(struct metrics_series, cpu_self_ns), true);
	write_errors(m, out);
	put_head(out, "duration_seconds", "histogram", "seconds", "How long finished calls took.");
	for (size_t i = 0; i < m->cnt; i++) {
		if (m->series[i].finished)
			write_distribution(out, &m->series[i]);
	}
	fprintf(out,
		"# TYPE proftrace_functions_left_out gauge\n"
		"# HELP proftrace_functions_left_out Functions without series, in [others].\n"
		"proftrace_functions_left_out %" PRIu64 "\n# EOF\n",
		m->left_out);
}
