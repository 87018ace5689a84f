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
#include "calls/walk.h"
#include "sink/names.h"
#include "util/array.h"
#include "util/hash.h"
#include "util/utf8.h"

#define NAME_MAX_CHARS 256 /* of a label; longer ones end in a number of their own */

struct metrics {
	struct metrics_choice choice;
	size_t own; /* series that are not [others] */
	struct metrics_series *series;
	size_t cnt, cap;
	uint64_t left_out; /* functions of the last profile that have no series */
};

int metrics__new(const struct metrics_choice *choice, struct metrics **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->choice = *choice;
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

/* The labels that tell series apart; borrowed. */
struct key {
	const char *service, *function, *object;
	enum metrics_kind kind;
};

static bool has_key(const struct metrics_series *s, const struct key *k)
{
	return s->kind == k->kind && !strcmp(s->function, k->function) &&
	       !strcmp(s->object, k->object) && !strcmp(s->service, k->service);
}

/* Finds the series, or adds one if there is room. NULL: there is none; *err is set if there was no
 * memory. */
static struct metrics_series *find(struct metrics *m, const struct key *k, int *err)
{
	struct metrics_series *s;

	for (size_t i = 0; i < m->cnt; i++) {
		if (has_key(&m->series[i], k))
			return &m->series[i];
	}
	if (k->kind != METRICS_OTHERS && m->own >= m->choice.max)
		return NULL;
	*err = -ENOMEM;
	if (ARRAY_RESERVE(&m->series, m->cnt, &m->cap))
		return NULL;
	s = &m->series[m->cnt];
	*s = (struct metrics_series){
		.service = strdup(k->service),
		.function = strdup(k->function),
		.object = strdup(k->object),
		.kind = k->kind,
	};
	if (!s->service || !s->function || !s->object) {
		free(s->service);
		free(s->function);
		free(s->object);
		return NULL;
	}
	m->cnt++;
	m->own += k->kind != METRICS_OTHERS;
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
		s->finished_ns +=
			(double)calls * (double)distribution__single(&d, low + (high - low) / 2);
	}
}

static void add_function(struct metrics_series *s, const struct profile *p, uint32_t function)
{
	const struct call_stats *f = &p->functions[function].stats;

	s->calls += f->calls;
	s->self_ns += f->self_ns;
	s->cpu_self_ns += stats__cpu_self_ns(f);
	s->calls_variance += f->calls_varied;
	s->cpu_variance += (double)f->varied_ns * (double)p->sample_period_ns;
	/* Times with callees of several functions cannot be summed up: callees' times are in
	 * callers'. */
	if (s->kind == METRICS_OTHERS)
		return;
	s->total_ns += f->total_ns;
	add_distribution(s, p, function);
}

static bool chosen(const struct metrics *m, const struct profile_function *f)
{
	return (f->stats.calls || f->stats.self_ns) &&
	       (!m->choice.functions_cnt ||
		function_glob__any_matches(m->choice.functions, m->choice.functions_cnt, f));
}

static int by_self(const void *a, const void *b, void *profile)
{
	const struct profile *p = profile;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t x = p->functions[i].stats.self_ns, y = p->functions[k].stats.self_ns;

	return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

/* Counts the calls of each function that were not made from within it. NULL: no memory. */
static uint64_t *outermost_calls(const struct profile *p)
{
	uint64_t *calls = calloc(p->functions_cnt + 1, sizeof(*calls));
	uint32_t *open = calloc(p->functions_cnt + 1, sizeof(*open));

	for (size_t i = 0; calls && open && i < p->threads_cnt; i++) {
		struct walk w = walk__from(p, p->threads[i].first_root);

		while (walk__next(&w)) {
			const struct profile_node *n = &p->nodes[w.node];

			if (!w.entering)
				open[n->function]--;
			else if (!open[n->function]++)
				calls[n->function] += n->stats.calls;
		}
	}
	free(open);
	if (!open) {
		free(calls);
		return NULL;
	}
	return calls;
}

static int add_sessions(struct metrics *m, const struct profile *p, const char *service)
{
	uint64_t *calls = m->choice.sessions_cnt ? outermost_calls(p) : NULL;
	int err = !m->choice.sessions_cnt || calls ? 0 : -ENOMEM;

	for (size_t i = 0; calls && i < p->functions_cnt && !err; i++) {
		const struct profile_function *f = &p->functions[i];
		const struct key own = {service, function__name(f), object_of(f), METRICS_SESSION};
		struct metrics_series *s;

		if (!calls[i] ||
		    !function_glob__any_matches(m->choice.sessions, m->choice.sessions_cnt, f))
			continue;
		s = find(m, &own, &err);
		m->left_out += !s;
		if (!s)
			continue;
		add_function(s, p, i);
		/* If some calls were nested, the distribution has them all, not the outermost ones
		 * only. */
		s->nested |= calls[i] != f->stats.calls;
		s->calls += calls[i] - f->stats.calls;
	}
	free(calls);
	return err;
}

static int add_functions(struct metrics *m, const struct profile *p, const char *service,
			 const uint32_t *order, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct profile_function *f = &p->functions[order[i]];
		const struct key own = {service, function__name(f), object_of(f),
					f->kind == FUNCTION_REGION ? METRICS_REGION
								   : METRICS_FUNCTION};
		const struct key others = {service, "[others]", "", METRICS_OTHERS};
		struct metrics_series *s = find(m, &own, &err);

		m->left_out += !s;
		if (!s && !err)
			s = find(m, &others, &err);
		if (!err)
			add_function(s, p, order[i]);
	}
	return err;
}

int metrics__add(struct metrics *m, const struct profile *p, const char *service)
{
	uint32_t *order = calloc(p->functions_cnt + 1, sizeof(*order));
	size_t cnt = 0;
	int err;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (chosen(m, &p->functions[i]))
			order[cnt++] = i;
	}
	qsort_r(order, cnt, sizeof(*order), by_self, (void *)p);
	m->left_out = 0;
	err = add_sessions(m, p, service);
	if (!err)
		err = add_functions(m, p, service, order, cnt);
	free(order);
	return err;
}

const char *metrics_kind__name(enum metrics_kind kind)
{
	static const char *const names[] = {"function", "region", "session", "others"};

	return names[kind];
}

const struct metrics_series *metrics__series(const struct metrics *m, size_t *cnt,
					     uint64_t *left_out)
{
	*cnt = m->cnt;
	*left_out = m->left_out;
	return m->series;
}

static size_t count_chars(const char *text)
{
	char bytes[UTF8_MAX];
	size_t cnt = 0;

	while (utf8_next_plain(&text, bytes))
		cnt++;
	return cnt;
}

void metrics__put_label(FILE *out, const char *text)
{
	/* Long names that begin alike are told apart by their hashes. */
	bool is_long = count_chars(text) > NAME_MAX_CHARS;
	uint64_t hash = is_long ? hash__text(text) : 0;
	size_t left = is_long ? NAME_MAX_CHARS - strlen("~0123456789abcdef") : NAME_MAX_CHARS;
	char bytes[UTF8_MAX];
	size_t cnt;

	putc('"', out);
	while (left-- && (cnt = utf8_next_plain(&text, bytes))) {
		if (*bytes == '"' || *bytes == '\\')
			putc('\\', out);
		fwrite(bytes, 1, cnt, out);
	}
	if (is_long)
		fprintf(out, "~%016" PRIx64, hash);
	putc('"', out);
}

/* A sample without its value; `le` NULL: no bucket. */
static void put_name(FILE *out, const char *name, const struct metrics_series *s, const char *le)
{
	fprintf(out, "proftrace_%s{service=", name);
	metrics__put_label(out, s->service);
	fputs(",function=", out);
	metrics__put_label(out, s->function);
	fputs(",object=", out);
	metrics__put_label(out, s->object);
	if (s->kind != METRICS_SESSION)
		fprintf(out, ",kind=\"%s\"", metrics_kind__name(s->kind));
	if (le)
		fprintf(out, ",le=\"%s\"", le);
	fputs("} ", out);
}

static void put_head(FILE *out, const char *name, const char *type, const char *unit,
		     const char *help)
{
	fprintf(out, "# TYPE proftrace_%s %s\n", name, type);
	if (unit)
		fprintf(out, "# UNIT proftrace_%s %s\n", name, unit);
	fprintf(out, "# HELP proftrace_%s %s\n", name, help);
}

static void put_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

/* The series that a family of metrics has. */
enum family { OF_SESSIONS, OF_FUNCTIONS, OF_FUNCTIONS_AND_OTHERS };

static bool is_of(const struct metrics_series *s, enum family family)
{
	switch (s->kind) {
	case METRICS_SESSION:
		return family == OF_SESSIONS;
	case METRICS_OTHERS:
		return family == OF_FUNCTIONS_AND_OTHERS;
	default:
		return family != OF_SESSIONS;
	}
}

/* A counter of ns, as seconds. */
static void write_times(const struct metrics *m, FILE *out, const char *name, const char *help,
			size_t offset, enum family family)
{
	char sample[64];

	put_head(out, name, "counter", "seconds", help);
	snprintf(sample, sizeof(sample), "%s_total", name);
	for (size_t i = 0; i < m->cnt; i++) {
		uint64_t ns;

		if (!is_of(&m->series[i], family))
			continue;
		memcpy(&ns, (const char *)&m->series[i] + offset, sizeof(ns));
		put_name(out, sample, &m->series[i], NULL);
		put_seconds(out, ns);
	}
}

static void write_calls(const struct metrics *m, FILE *out, const char *name, const char *help,
			enum family family)
{
	char sample[64];

	put_head(out, name, "counter", NULL, help);
	snprintf(sample, sizeof(sample), "%s_total", name);
	for (size_t i = 0; i < m->cnt; i++) {
		/* Series without calls are known from samples alone: nobody has counted calls. */
		if (!m->series[i].calls || !is_of(&m->series[i], family))
			continue;
		put_name(out, sample, &m->series[i], NULL);
		fprintf(out, "%" PRIu64 "\n", m->series[i].calls);
	}
}

/* Writes standard errors, which are 0 for series that were counted and timed. */
static void write_errors(const struct metrics *m, FILE *out)
{
	put_head(out, "function_calls_error", "gauge", NULL,
		 "Standard error of calls_total, where calls are estimates.");
	for (size_t i = 0; i < m->cnt; i++) {
		const struct metrics_series *s = &m->series[i];

		if (!(s->calls_variance > 0) || !is_of(s, OF_FUNCTIONS_AND_OTHERS))
			continue;
		put_name(out, "function_calls_error", s, NULL);
		fprintf(out, "%.0f\n", sqrt(s->calls_variance));
	}
	put_head(out, "function_cpu_self_error_seconds", "gauge", "seconds",
		 "Standard error of cpu_self_seconds_total, where it comes from samples.");
	for (size_t i = 0; i < m->cnt; i++) {
		const struct metrics_series *s = &m->series[i];

		if (!(s->cpu_variance > 0) || !is_of(s, OF_FUNCTIONS_AND_OTHERS))
			continue;
		put_name(out, "function_cpu_self_error_seconds", s, NULL);
		fprintf(out, "%.9f\n", sqrt(s->cpu_variance) / 1e9);
	}
}

static void write_distribution(FILE *out, const char *name, const struct metrics_series *s)
{
	uint64_t below = 0;
	char le[32], sample[64];

	snprintf(sample, sizeof(sample), "%s_bucket", name);
	for (int k = 0; k < METRICS_BOUNDS; k++) {
		below += s->below[k];
		snprintf(le, sizeof(le), "%.12g", metrics__bound_s(k));
		put_name(out, sample, s, le);
		fprintf(out, "%" PRIu64 "\n", below);
	}
	put_name(out, sample, s, "+Inf");
	fprintf(out, "%" PRIu64 "\n", s->finished);
	snprintf(sample, sizeof(sample), "%s_count", name);
	put_name(out, sample, s, NULL);
	fprintf(out, "%" PRIu64 "\n", s->finished);
	snprintf(sample, sizeof(sample), "%s_sum", name);
	put_name(out, sample, s, NULL);
	fprintf(out, "%.9f\n", s->finished_ns / 1e9);
}

static void write_distributions(const struct metrics *m, FILE *out, const char *name,
				const char *help, enum family family)
{
	put_head(out, name, "histogram", "seconds", help);
	for (size_t i = 0; i < m->cnt; i++) {
		const struct metrics_series *s = &m->series[i];

		if (s->finished && !s->nested && is_of(s, family))
			write_distribution(out, name, s);
	}
}

static void write_sessions(const struct metrics *m, FILE *out)
{
	write_calls(m, out, "sessions", "Outermost calls.", OF_SESSIONS);
	write_times(m, out, "session_seconds", "Wall time of outermost calls.",
		    offsetof(struct metrics_series, total_ns), OF_SESSIONS);
	write_distributions(m, out, "session_duration_seconds",
			    "How long outermost calls took, where there are no others.",
			    OF_SESSIONS);
}

void metrics__write(const struct metrics *m, FILE *out)
{
	write_calls(m, out, "function_calls", "Calls.", OF_FUNCTIONS_AND_OTHERS);
	write_times(m, out, "function_seconds",
		    "Wall time of calls, with callees, of recursion once.",
		    offsetof(struct metrics_series, total_ns), OF_FUNCTIONS);
	write_times(m, out, "function_self_seconds", "Wall time without traced callees.",
		    offsetof(struct metrics_series, self_ns), OF_FUNCTIONS_AND_OTHERS);
	write_times(m, out, "function_cpu_self_seconds", "CPU time without traced callees.",
		    offsetof(struct metrics_series, cpu_self_ns), OF_FUNCTIONS_AND_OTHERS);
	write_errors(m, out);
	write_distributions(m, out, "function_duration_seconds", "How long finished calls took.",
			    OF_FUNCTIONS);
	if (m->choice.sessions_cnt)
		write_sessions(m, out);
	fprintf(out,
		"# TYPE proftrace_functions_left_out gauge\n"
		"# HELP proftrace_functions_left_out Functions without series, in [others].\n"
		"proftrace_functions_left_out %" PRIu64 "\n",
		m->left_out);
}
