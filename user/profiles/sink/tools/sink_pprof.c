// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pprof's format: a gzipped protocol buffer (perftools.profiles.Profile). A sample is a path, the
 * innermost function first, with what it has cost itself. Fields of a message may come in any
 * order, so each is written as soon as it is complete, strings when they are first needed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/estimate.h"
#include "calls/profile.h"
#include "calls/walk.h"
#include "sink/accounts.h"
#include "sink/listing.h"
#include "sink/modules.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "util/array.h"
#include "sink/gzip.h"
#include "util/proto.h"

/* pprof knows no paths, only stacks; listing them takes the square of their depth. The middle of
 * deeper ones is left out. */
#define MAX_STACK 2048
#define OUTERMOST 64 /* that are kept of them */

/* Field numbers, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,
	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,
	MAPPING_ID = 1,
	MAPPING_LIMIT = 3,
	MAPPING_FILENAME = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
	FUNCTION_START_LINE = 5,
};

enum label { LABEL_THREAD, LABEL_COMM, LABEL_PID, LABEL_TID, LABEL_GOROUTINE, LABELS };

struct writer {
	const struct profile *p;
	struct gzip *gz;
	struct listing *functions; /* ids of functions and locations are one more than theirs */
	struct modules modules;
	struct proto top, message, inner; /* parts, reused: `message` in `top`, `inner` in that */
	struct proto labels;		  /* of the current thread's samples */
	uint64_t strings;		  /* written so far */
	uint64_t label_keys[LABELS];
	struct proto sources[SOURCES]; /* labels, if there are estimates */
	uint64_t source_key;
	uint64_t left_out; /* the location that stands for frames left out; 0: not needed yet */
	uint64_t *stack;   /* locations, outermost first */
	size_t stack_cap;
};

/* Passes on what is complete. */
static void flush(struct writer *w)
{
	gzip__write(w->gz, w->top.data, w->top.len);
	w->top.len = 0;
}

static void write_message(struct writer *w, uint32_t field)
{
	proto_message(&w->top, field, &w->message);
	flush(w);
}

/* The number of a string, which is written now: 0 is the empty one. */
static uint64_t string(struct writer *w, const char *s)
{
	if (!s || !*s)
		return 0;
	proto_text(&w->top, PROFILE_STRING_TABLE, s);
	flush(w);
	return w->strings++;
}

static void write_sample_types(struct writer *w, enum weight weight)
{
	/* In the order of values in a sample. */
	static const struct {
		const char *type, *unit;
		enum weight weight;
	} types[] = {
		{"calls", "count", WEIGHT_CALLS},
		{"wall", "nanoseconds", WEIGHT_WALL},
		{"cpu", "nanoseconds", WEIGHT_CPU},
		{"off", "nanoseconds", WEIGHT_OFF},
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
		uint64_t type = string(w, types[i].type);

		proto_u64(&w->message, VALUE_TYPE_TYPE, type);
		proto_u64(&w->message, VALUE_TYPE_UNIT, string(w, types[i].unit));
		write_message(w, PROFILE_SAMPLE_TYPE);
		if (types[i].weight == weight)
			proto_u64(&w->top, PROFILE_DEFAULT_SAMPLE_TYPE, type);
	}
}

/* Addresses are offsets in files. Nothing is left to be looked up for them. */
static void write_mappings(struct writer *w)
{
	struct proto *m = &w->message;
	size_t i;

	for (i = 0; i < w->modules.cnt; i++) {
		proto_u64(m, MAPPING_ID, i + 1);
		proto_u64(m, MAPPING_LIMIT, w->modules.list[i].end);
		proto_u64(m, MAPPING_FILENAME, string(w, w->modules.list[i].path));
		proto_u64(m, MAPPING_HAS_FUNCTIONS, 1);
		proto_u64(m, MAPPING_HAS_FILENAMES, 1);
		proto_u64(m, MAPPING_HAS_LINE_NUMBERS, 1);
		write_message(w, PROFILE_MAPPING);
	}
}

static void write_function(struct writer *w, uint64_t id, const struct profile_function *f)
{
	const char *name = function__name(f);
	struct proto *m = &w->message;

	proto_u64(m, FUNCTION_ID, id);
	proto_u64(m, FUNCTION_NAME, string(w, name));
	/* If both names are equal, pprof demangles the name itself, and cuts what is in <>. */
	if (f->symbol && strcmp(f->symbol, name))
		proto_u64(m, FUNCTION_SYSTEM_NAME, string(w, f->symbol));
	proto_u64(m, FUNCTION_FILENAME, string(w, f->file));
	proto_u64(m, FUNCTION_START_LINE, f->line);
	write_message(w, PROFILE_FUNCTION);
}

/* A location for each function, with the same id; `mapping` 0: it is in none. */
static void write_location(struct writer *w, uint64_t id, uint64_t mapping,
			   const struct profile_function *f)
{
	struct proto *m = &w->message;

	proto_u64(m, LOCATION_ID, id);
	proto_u64(m, LOCATION_MAPPING_ID, mapping);
	proto_u64(m, LOCATION_ADDRESS, f->offset);
	proto_u64(&w->inner, LINE_FUNCTION_ID, id);
	proto_u64(&w->inner, LINE_LINE, f->line);
	proto_message(m, LOCATION_LINE, &w->inner);
	write_message(w, PROFILE_LOCATION);
}

static void write_functions(struct writer *w)
{
	size_t i;

	for (i = 0; i < w->p->functions_cnt; i++) {
		const struct profile_function *f = &w->p->functions[i];
		uint64_t id = w->functions[i].id + 1;

		if (!w->functions[i].listed)
			continue;
		write_function(w, id, f);
		write_location(w, id, w->modules.of[i] + 1, f);
	}
}

static uint64_t left_out(struct writer *w)
{
	static const struct profile_function f = {.name = "[frames left out]"};

	if (!w->left_out) {
		w->left_out = w->p->functions_cnt + 1;
		write_function(w, w->left_out, &f);
		write_location(w, w->left_out, 0, &f);
	}
	return w->left_out;
}

static void add_label(struct writer *w, enum label label, uint32_t field, uint64_t value)
{
	proto_u64(&w->message, LABEL_KEY, w->label_keys[label]);
	proto_u64(&w->message, field, value);
	proto_message(&w->labels, SAMPLE_LABEL, &w->message);
}

static void make_labels(struct writer *w, const struct profile_thread *t)
{
	static const char *const keys[] = {"thread", "comm", "pid", "tid", "goroutine"};
	char name[THREAD_NAME_LEN];
	int i;

	for (i = 0; i < LABELS && !w->label_keys[i]; i++)
		w->label_keys[i] = string(w, keys[i]);
	w->labels.len = 0;
	add_label(w, LABEL_THREAD, LABEL_STR, string(w, thread__name(t, name)));
	if (*t->comm)
		add_label(w, LABEL_COMM, LABEL_STR, string(w, t->comm));
	add_label(w, LABEL_PID, LABEL_NUM, t->pid);
	add_label(w, LABEL_TID, LABEL_NUM, thread__number(t));
	if (t->goroutine)
		add_label(w, LABEL_GOROUTINE, LABEL_NUM, t->goroutine);
}

/* The label that says how a path is known, which is made when it is first needed. */
static const struct proto *source_label(struct writer *w, const struct call_stats *s)
{
	enum estimate_source source = estimate__of(w->p, s).source;
	struct proto *label = &w->sources[source];

	if (!label->len && estimate__any(w->p)) {
		if (!w->source_key)
			w->source_key = string(w, "source");
		proto_u64(&w->inner, LABEL_KEY, w->source_key);
		proto_u64(&w->inner, LABEL_STR, string(w, estimate__source_name(source)));
		proto_message(label, SAMPLE_LABEL, &w->inner);
	}
	return label;
}

static uint64_t as_i64(uint64_t value)
{
	return value < INT64_MAX ? value : INT64_MAX;
}

/* The innermost of w->stack's frames is at `depth`. */
static void write_sample(struct writer *w, const struct call_stats *s, uint32_t depth)
{
	const struct proto *source = source_label(w, s);
	bool deep = depth >= MAX_STACK;
	uint64_t gap = deep ? left_out(w) : 0;
	uint32_t i;

	for (i = 0; i <= depth; i++) {
		if (deep && i == MAX_STACK - OUTERMOST) {
			proto_number(&w->inner, gap);
			i = depth + 1 - OUTERMOST;
		}
		proto_number(&w->inner, w->stack[depth - i]);
	}
	proto_message(&w->message, SAMPLE_LOCATION_ID, &w->inner);
	proto_number(&w->inner, as_i64(s->calls));
	proto_number(&w->inner, as_i64(s->self_ns));
	proto_number(&w->inner, as_i64(stats__cpu_self_ns(s)));
	proto_number(&w->inner, as_i64(s->off_self_ns));
	proto_message(&w->message, SAMPLE_VALUE, &w->inner);
	proto_append(&w->message, &w->labels);
	proto_append(&w->message, source);
	write_message(w, PROFILE_SAMPLE);
}

static int write_thread(struct writer *w, const struct profile_thread *t, FILE *out)
{
	struct walk walk = walk__from(w->p, t->first_root);

	make_labels(w, t);
	while (walk__next(&walk) && !ferror_unlocked(out)) {
		const struct profile_node *n = &w->p->nodes[walk.node];

		if (!walk.entering)
			continue;
		if (ARRAY_RESERVE(&w->stack, walk.depth, &w->stack_cap))
			return -ENOMEM;
		w->stack[walk.depth] = w->functions[n->function].id + 1;
		if (n->stats.calls || n->stats.self_ns)
			write_sample(w, &n->stats, walk.depth);
	}
	return 0;
}

static void write_comment(struct writer *w, const char *line)
{
	if (*line)
		proto_u64(&w->top, PROFILE_COMMENT, string(w, line));
}

static void write_notes(struct writer *w, bool raw)
{
	char line[ACCOUNTS_LINE];
	double us = w->p->start_time * 1e6; /* its precision */

	if (us > 0 && us < (double)(INT64_MAX / 1000))
		proto_u64(&w->top, PROFILE_TIME_NANOS, (uint64_t)(us + 0.5) * 1000);
	proto_u64(&w->top, PROFILE_DURATION_NANOS, as_i64(w->p->duration_ns));
	write_comment(w, target__name(&w->p->target, line, sizeof(line)));
	write_comment(w, accounts__calls(w->p, line, sizeof(line)));
	write_comment(w, accounts__cost(w->p, raw, line, sizeof(line)));
	write_comment(w, accounts__estimates(w->p, line, sizeof(line)));
	flush(w);
}

static int write_profile(struct writer *w, const struct sink_options *opts, FILE *out)
{
	int err = 0;
	size_t i;

	proto_text(&w->top, PROFILE_STRING_TABLE, "");
	w->strings = 1;
	write_sample_types(w, opts->weight);
	write_mappings(w);
	write_functions(w);
	for (i = 0; i < w->p->threads_cnt && !err; i++)
		if (w->p->threads[i].first_root)
			err = write_thread(w, &w->p->threads[i], out);
	write_notes(w, opts->raw);
	return err ? err : w->top.failed ? -ENOMEM : 0;
}

static int write_pprof(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct writer w = {.p = p, .functions = listing__new(p)};
	int err = w.functions ? modules__init(&w.modules, p, w.functions) : -ENOMEM;

	stream__begin();
	if (!err)
		err = gzip__open(out, &w.gz);
	if (!err)
		err = write_profile(&w, opts, out);
	gzip__close(w.gz);
	modules__clear(&w.modules);
	free(w.functions);
	free(w.stack);
	proto_free(&w.top);
	proto_free(&w.message);
	proto_free(&w.inner);
	proto_free(&w.labels);
	for (int i = 0; i < SOURCES; i++)
		proto_free(&w.sources[i]);
	return err ? err : stream__end(out);
}

const struct sink sink_pprof = {
	.name = "pprof",
	.help = "for pprof and what reads its files",
	.suffixes = (const char *const[]){".pb.gz", ".pprof", NULL},
	.whole = true,
	.weighs = true,
	.write = write_pprof,
};
