// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Figures of functions in OTLP's metrics signal: those of -f openmetrics. A recording is a stretch
 * of time, so its sums are deltas: they tell what came since its start, which is told, too.
 */
#include <errno.h>

#include "calls/profile.h"
#include "fleet/kind.h"
#include "fleet/otlp/message.h"
#include "record/reader.h"
#include "sink/data/metrics.h"
#include "util/proto.h"

#define FUNCTIONS_MAX 100 /* with series; the others are added up */

/* Field numbers, by message. */
enum {
	SCOPE_METRICS_METRIC = 2,
	METRIC_NAME = 1,
	METRIC_DESCRIPTION = 2,
	METRIC_UNIT = 3,
	METRIC_SUM = 7,
	METRIC_HISTOGRAM = 9,
	DATA_POINT = 1, /* of both */
	DATA_TEMPORALITY = 2,
	SUM_MONOTONIC = 3,
	POINT_START = 2, /* of both */
	POINT_TIME = 3,
	NUMBER_DOUBLE = 4,
	NUMBER_INT = 6,
	NUMBER_ATTRIBUTE = 7,
	HISTOGRAM_COUNT = 4,
	HISTOGRAM_SUM = 5,
	HISTOGRAM_COUNTS = 6,
	HISTOGRAM_BOUNDS = 7,
	HISTOGRAM_ATTRIBUTE = 9,
};
enum { TEMPORALITY_DELTA = 1 };

enum figure { FIGURE_CALLS, FIGURE_TIME, FIGURE_SELF, FIGURE_CPU_SELF, FIGURES };

static const struct {
	const char *name, *unit, *help;
} sums[FIGURES] = {
	[FIGURE_CALLS] = {"proftrace.function.calls", "{call}", "Calls."},
	[FIGURE_TIME] = {"proftrace.function.time", "s",
			 "Wall time of calls, with callees, of recursion once."},
	[FIGURE_SELF] = {"proftrace.function.self_time", "s", "Wall time without traced callees."},
	[FIGURE_CPU_SELF] = {"proftrace.function.cpu_self_time", "s",
			     "CPU time without traced callees."},
};

struct writer {
	const struct profile *p;
	const struct metrics_series *series;
	size_t cnt;
	struct proto content, metric, data, point, packed;
	uint64_t points;
};

static void put_attributes(struct writer *w, uint32_t field, const struct metrics_series *s)
{
	otlp_put_text(&w->point, field, "code.function.name", s->function);
	otlp_put_text(&w->point, field, "proftrace.object", s->object);
	otlp_put_text(&w->point, field, "proftrace.kind", metrics_kind__name(s->kind));
	proto_fixed64(&w->point, POINT_START, otlp_start_ns(w->p));
	proto_fixed64(&w->point, POINT_TIME, otlp_end_ns(w->p));
}

static void end_point(struct writer *w)
{
	proto_message(&w->data, DATA_POINT, &w->point);
	w->points++;
}

/* Nothing without points. */
static void end_metric(struct writer *w, uint32_t kind, const char *name, const char *unit,
		       const char *help)
{
	if (!w->data.len)
		return;
	if (kind == METRIC_SUM)
		proto_u64(&w->data, SUM_MONOTONIC, 1);
	proto_u64(&w->data, DATA_TEMPORALITY, TEMPORALITY_DELTA);
	proto_text(&w->metric, METRIC_NAME, name);
	proto_text(&w->metric, METRIC_DESCRIPTION, help);
	proto_text(&w->metric, METRIC_UNIT, unit);
	proto_message(&w->metric, kind, &w->data);
	proto_message(&w->content, SCOPE_METRICS_METRIC, &w->metric);
}

static void put_time(struct writer *w, uint64_t ns)
{
	proto_double(&w->point, NUMBER_DOUBLE, (double)ns / 1e9);
}

static void write_sum(struct writer *w, enum figure figure)
{
	for (size_t i = 0; i < w->cnt; i++) {
		const struct metrics_series *s = &w->series[i];

		/* Calls that only samples have met were not counted; times that include callees
		 * cannot be summed up for several functions. */
		if ((figure == FIGURE_CALLS && !s->calls) ||
		    (figure == FIGURE_TIME && s->kind == METRICS_OTHERS))
			continue;
		put_attributes(w, NUMBER_ATTRIBUTE, s);
		if (figure == FIGURE_CALLS)
			proto_fixed64(&w->point, NUMBER_INT, s->calls);
		else
			put_time(w, figure == FIGURE_TIME   ? s->total_ns
				    : figure == FIGURE_SELF ? s->self_ns
							    : s->cpu_self_ns);
		end_point(w);
	}
	end_metric(w, METRIC_SUM, sums[figure].name, sums[figure].unit, sums[figure].help);
}

static void write_histogram(struct writer *w)
{
	for (size_t i = 0; i < w->cnt; i++) {
		const struct metrics_series *s = &w->series[i];
		uint64_t rest = s->finished;

		if (!s->finished)
			continue;
		put_attributes(w, HISTOGRAM_ATTRIBUTE, s);
		proto_fixed64(&w->point, HISTOGRAM_COUNT, s->finished);
		proto_double(&w->point, HISTOGRAM_SUM, s->finished_ns / 1e9);
		for (int k = 0; k < METRICS_BOUNDS; k++) {
			proto_number64(&w->packed, s->below[k]);
			rest -= s->below[k];
		}
		proto_number64(&w->packed, rest);
		proto_message(&w->point, HISTOGRAM_COUNTS, &w->packed);
		for (int k = 0; k < METRICS_BOUNDS; k++)
			proto_number_double(&w->packed, metrics__bound_s(k));
		proto_message(&w->point, HISTOGRAM_BOUNDS, &w->packed);
		end_point(w);
	}
	end_metric(w, METRIC_HISTOGRAM, "proftrace.function.duration", "s",
		   "How long finished calls took.");
}

int otlp_metrics(const struct shipment *s, struct otlp_request *r)
{
	struct writer w = {.p = s->run->profile};
	const struct metrics_choice choice = {.max = FUNCTIONS_MAX};
	struct metrics *m = NULL;
	int err = metrics__new(&choice, &m);

	if (!err)
		err = metrics__add(m, w.p, s->service);
	if (!err) {
		w.series = metrics__series(m, &w.cnt, &r->left_out);
		for (int figure = 0; figure < FIGURES; figure++)
			write_sum(&w, figure);
		write_histogram(&w);
		r->cnt = w.points;
		otlp_wrap(&r->body, s, &w.content);
	}
	metrics__free(m);
	proto_free(&w.content);
	proto_free(&w.metric);
	proto_free(&w.data);
	proto_free(&w.point);
	proto_free(&w.packed);
	return err ? err : r->body.failed ? -ENOMEM : 0;
}
