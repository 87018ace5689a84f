// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The call tree in OTLP's profiles signal (v1development). A Profile has one type of values, so
 * there are four, which share one dictionary: tables to whose elements everything refers by number,
 * and whose first element is empty. A stack is a path, the innermost function first, whichever
 * thread it is of; samples tell the thread by attributes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/estimate.h"
#include "calls/path_map.h"
#include "calls/profile.h"
#include "calls/walk.h"
#include "fleet/kind.h"
#include "fleet/otlp/message.h"
#include "record/reader.h"
#include "sink/listing.h"
#include "sink/modules.h"
#include "sink/names.h"
#include "util/array.h"
#include "util/proto.h"

/* Stacks take the square of their depth: the middle of deeper ones is left out. */
#define MAX_STACK 2048
#define OUTERMOST 64 /* frames that are kept of them */

/* Field numbers, by message. */
enum {
	REQUEST_DICTIONARY = 2,
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_LINK = 4,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7,
	SCOPE_PROFILES_PROFILE = 2,
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_ID = 7,
	PROFILE_ATTRIBUTES = 11,
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,
	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_VALUES = 4,
	MAPPING_LIMIT = 2,
	MAPPING_FILENAME = 4,
	STACK_LOCATIONS = 1,
	LOCATION_MAPPING = 1,
	LOCATION_ADDRESS = 2,
	LOCATION_LINE = 3,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_NAME = 1,
	FUNCTION_SYSTEM_NAME = 2,
	FUNCTION_FILENAME = 3,
	FUNCTION_START_LINE = 4,
	LINK_TRACE = 1,
	LINK_SPAN = 2,
	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2,
};

static const struct {
	const char *type, *unit;
} types[] = {
	{"calls", "count"},
	{"wall", "nanoseconds"},
	{"cpu", "nanoseconds"},
	{"off_cpu", "nanoseconds"},
};
#define TYPES (sizeof(types) / sizeof(*types))

struct writer {
	const struct shipment *s;
	const struct profile *p;
	struct listing
		*functions; /* their numbers, and their locations', are one more than theirs */
	struct modules modules;
	struct proto dictionary, part, inner;
	struct proto samples[TYPES];
	uint64_t strings, attributes, locations, stacks; /* elements of tables so far */
	uint64_t keys[4], sources[SOURCES];		 /* strings, attributes; 0: not made yet */
	uint64_t frames_left_out;			 /* a location; 0: not needed yet */
	struct path_map paths;				 /* the same path of all threads */
	uint32_t paths_cnt;
	uint32_t *path_of, *stack_of; /* by node, by path: 0: none yet */
	uint64_t *stack;	      /* locations, outermost first */
	size_t stack_cap;
	uint64_t paths_left_out, left_out[TYPES]; /* there was no room for these samples */
};

static uint64_t string(struct writer *w, const char *s)
{
	if (!s || !*s)
		return 0;
	proto_text(&w->dictionary, DICTIONARY_STRING, s);
	return w->strings++;
}

static void add_to_dictionary(struct writer *w, uint32_t table)
{
	proto_message(&w->dictionary, table, &w->part);
}

/* The first element of each table, which stands for none. */
static void write_zeros(struct writer *w)
{
	static const uint8_t zero[OTLP_TRACE_ID];

	for (uint32_t table = DICTIONARY_MAPPING; table <= DICTIONARY_STACK; table++) {
		/* Readers may expect ids to be as long as ids are. */
		if (table == DICTIONARY_LINK) {
			proto_bytes(&w->part, LINK_TRACE, zero, OTLP_TRACE_ID);
			proto_bytes(&w->part, LINK_SPAN, zero, OTLP_SPAN_ID);
		}
		add_to_dictionary(w, table);
	}
	w->strings = w->attributes = w->locations = w->stacks = 1;
}

static void write_mappings(struct writer *w)
{
	for (size_t i = 0; i < w->modules.cnt; i++) {
		uint64_t name = string(w, w->modules.list[i].path);

		proto_u64(&w->part, MAPPING_LIMIT, w->modules.list[i].end);
		proto_u64(&w->part, MAPPING_FILENAME, name);
		add_to_dictionary(w, DICTIONARY_MAPPING);
	}
}

/* A function and a location in it, which have the same number. Returns that. */
static uint64_t write_function(struct writer *w, uint64_t mapping, const struct profile_function *f)
{
	const char *name = function__name(f);
	bool renamed = f->symbol && strcmp(f->symbol, name);
	uint64_t names[] = {string(w, name), renamed ? string(w, f->symbol) : 0,
			    string(w, f->file)};

	proto_u64(&w->part, FUNCTION_NAME, names[0]);
	proto_u64(&w->part, FUNCTION_SYSTEM_NAME, names[1]);
	proto_u64(&w->part, FUNCTION_FILENAME, names[2]);
	proto_u64(&w->part, FUNCTION_START_LINE, f->line);
	add_to_dictionary(w, DICTIONARY_FUNCTION);
	proto_u64(&w->part, LOCATION_MAPPING, mapping);
	proto_u64(&w->part, LOCATION_ADDRESS, f->offset);
	proto_u64(&w->inner, LINE_FUNCTION, w->locations);
	proto_u64(&w->inner, LINE_LINE, f->line);
	proto_message(&w->part, LOCATION_LINE, &w->inner);
	add_to_dictionary(w, DICTIONARY_LOCATION);
	return w->locations++;
}

static void write_functions(struct writer *w)
{
	for (size_t i = 0; i < w->p->functions_cnt; i++) {
		if (w->functions[i].listed)
			write_function(w, w->modules.of[i] + 1, &w->p->functions[i]);
	}
}

/* The location of what stands for others. */
static uint64_t write_stand_in(struct writer *w, const char *name)
{
	const struct profile_function f = {.name = name};

	return write_function(w, 0, &f);
}

enum key { KEY_THREAD_NAME, KEY_THREAD_ID, KEY_PID, KEY_SOURCE };

/* The number of an attribute with `value`, which is emptied. */
static uint64_t attribute(struct writer *w, enum key key, struct proto *value)
{
	static const char *const names[] = {"thread.name", "thread.id", "process.pid",
					    "proftrace.source"};

	if (!w->keys[key])
		w->keys[key] = string(w, names[key]);
	proto_u64(&w->part, ATTRIBUTE_KEY, w->keys[key]);
	proto_message(&w->part, ATTRIBUTE_VALUE, value);
	add_to_dictionary(w, DICTIONARY_ATTRIBUTE);
	return w->attributes++;
}

static uint64_t text_attribute(struct writer *w, enum key key, const char *text)
{
	otlp_value_text(&w->inner, text);
	return attribute(w, key, &w->inner);
}

static uint64_t int_attribute(struct writer *w, enum key key, int64_t value)
{
	otlp_value_int(&w->inner, value);
	return attribute(w, key, &w->inner);
}

/* The attribute that says how a path is known; 0: none, as all is exact. */
static uint64_t source_of(struct writer *w, const struct call_stats *s)
{
	enum estimate_source source = estimate__of(w->p, s).source;

	if (!w->sources[source] && estimate__any(w->p))
		w->sources[source] = text_attribute(w, KEY_SOURCE, estimate__source_name(source));
	return w->sources[source];
}

/* The stack of the path whose innermost frame is at `depth` of w->stack. */
static uint64_t stack_of(struct writer *w, uint32_t path, uint32_t depth)
{
	bool deep = depth >= MAX_STACK;

	if (w->stack_of[path])
		return w->stack_of[path];
	if (deep && !w->frames_left_out)
		w->frames_left_out = write_stand_in(w, "[frames left out]");
	for (uint32_t i = 0; i <= depth; i++) {
		if (deep && i == MAX_STACK - OUTERMOST) {
			proto_number(&w->inner, w->frames_left_out);
			i = depth + 1 - OUTERMOST;
		}
		proto_number(&w->inner, w->stack[depth - i]);
	}
	proto_message(&w->part, STACK_LOCATIONS, &w->inner);
	add_to_dictionary(w, DICTIONARY_STACK);
	w->stack_of[path] = w->stacks;
	return w->stacks++;
}

static uint64_t as_i64(uint64_t value)
{
	return value < INT64_MAX ? value : INT64_MAX;
}

/* A sample of each type of which there is something. `attributes`: their numbers, 0: none. */
static void write_samples(struct writer *w, uint64_t stack, const uint64_t *attributes, size_t cnt,
			  const uint64_t values[TYPES])
{
	for (size_t type = 0; type < TYPES; type++) {
		if (!values[type])
			continue;
		proto_u64(&w->part, SAMPLE_STACK, stack);
		for (size_t i = 0; i < cnt; i++) {
			if (attributes[i])
				proto_number(&w->inner, attributes[i]);
		}
		proto_message(&w->part, SAMPLE_ATTRIBUTES, &w->inner);
		proto_number(&w->inner, as_i64(values[type]));
		proto_message(&w->part, SAMPLE_VALUES, &w->inner);
		proto_message(&w->samples[type], PROFILE_SAMPLE, &w->part);
	}
}

static bool is_full(const struct writer *w)
{
	size_t len = w->dictionary.len;

	for (size_t type = 0; type < TYPES; type++)
		len += w->samples[type].len;
	return len > OTLP_REQUEST_MAX - (1 << 20);
}

static void write_node(struct writer *w, uint32_t node, uint32_t depth, uint64_t attributes[4])
{
	const struct call_stats *s = &w->p->nodes[node].stats;
	const uint64_t values[TYPES] = {s->calls, s->self_ns, stats__cpu_self_ns(s),
					s->off_self_ns};

	if (!s->calls && !s->self_ns)
		return;
	if (is_full(w)) {
		w->paths_left_out++;
		for (size_t type = 0; type < TYPES; type++)
			w->left_out[type] += values[type];
		return;
	}
	attributes[3] = source_of(w, s);
	write_samples(w, stack_of(w, w->path_of[node], depth), attributes, 4, values);
}

static int write_thread(struct writer *w, const struct profile_thread *t)
{
	struct walk walk = walk__from(w->p, t->first_root);
	char name[THREAD_NAME_LEN];
	uint64_t attributes[4] = {
		text_attribute(w, KEY_THREAD_NAME, *t->comm ? t->comm : thread__name(t, name)),
		int_attribute(w, KEY_THREAD_ID, (int64_t)thread__number(t)),
		int_attribute(w, KEY_PID, t->pid),
	};

	while (walk__next(&walk)) {
		const struct profile_node *n = &w->p->nodes[walk.node];
		uint32_t *path;

		if (!walk.entering)
			continue;
		if (ARRAY_RESERVE(&w->stack, walk.depth, &w->stack_cap))
			return -ENOMEM;
		w->stack[walk.depth] = w->functions[n->function].id + 1;
		path = path_map__at(&w->paths, path_step(n->parent ? w->path_of[n->parent] : 0, 0,
							 n->function));
		if (!*path)
			*path = ++w->paths_cnt;
		w->path_of[walk.node] = *path;
		write_node(w, walk.node, walk.depth, attributes);
	}
	return 0;
}

/* Writes paths for which there was no room as one path, so that sums are those of the run. */
static uint64_t write_left_out(struct writer *w)
{
	if (!w->paths_left_out)
		return 0;
	proto_number(&w->inner, write_stand_in(w, "[paths left out]"));
	proto_message(&w->part, STACK_LOCATIONS, &w->inner);
	add_to_dictionary(w, DICTIONARY_STACK);
	write_samples(w, w->stacks++, NULL, 0, w->left_out);
	proto_u64(&w->part, ATTRIBUTE_KEY, string(w, "proftrace.paths_left_out"));
	otlp_value_int(&w->inner, (int64_t)w->paths_left_out);
	proto_message(&w->part, ATTRIBUTE_VALUE, &w->inner);
	add_to_dictionary(w, DICTIONARY_ATTRIBUTE);
	return w->attributes++;
}

/* Returns how many there are. */
static uint64_t write_profiles(struct writer *w, uint64_t left_out, struct proto *content)
{
	uint8_t id[OTLP_TRACE_ID];
	uint64_t cnt = 0;

	for (size_t type = 0; type < TYPES; type++) {
		if (!w->samples[type].len)
			continue;
		proto_u64(&w->inner, VALUE_TYPE_TYPE, string(w, types[type].type));
		proto_u64(&w->inner, VALUE_TYPE_UNIT, string(w, types[type].unit));
		proto_message(&w->part, PROFILE_SAMPLE_TYPE, &w->inner);
		proto_append(&w->part, &w->samples[type]);
		proto_fixed64(&w->part, PROFILE_TIME, otlp_start_ns(w->p));
		proto_u64(&w->part, PROFILE_DURATION, w->p->duration_ns);
		otlp_trace_id(id, w->s->id, UINT64_MAX - type);
		proto_bytes(&w->part, PROFILE_ID, id, sizeof(id));
		if (left_out) {
			proto_number(&w->inner, left_out);
			proto_message(&w->part, PROFILE_ATTRIBUTES, &w->inner);
		}
		proto_message(content, SCOPE_PROFILES_PROFILE, &w->part);
		cnt++;
	}
	return cnt;
}

static int init(struct writer *w)
{
	w->functions = listing__new(w->p);
	w->path_of = calloc(w->p->nodes_cnt + 1, sizeof(*w->path_of));
	w->stack_of = calloc(w->p->nodes_cnt + 1, sizeof(*w->stack_of));
	if (!w->functions || !w->path_of || !w->stack_of ||
	    modules__init(&w->modules, w->p, w->functions))
		return -ENOMEM;
	return path_map__init(&w->paths, w->p->nodes_cnt);
}

static void fini(struct writer *w)
{
	modules__clear(&w->modules);
	path_map__fini(&w->paths);
	free(w->functions);
	free(w->path_of);
	free(w->stack_of);
	free(w->stack);
	proto_free(&w->dictionary);
	proto_free(&w->part);
	proto_free(&w->inner);
	for (size_t type = 0; type < TYPES; type++)
		proto_free(&w->samples[type]);
}

int otlp_profiles(const struct shipment *s, struct otlp_request *r)
{
	struct writer w = {.s = s, .p = s->run->profile};
	struct proto content = {0};
	int err = init(&w);

	if (!err) {
		write_zeros(&w);
		write_mappings(&w);
		write_functions(&w);
	}
	for (size_t i = 0; i < w.p->threads_cnt && !err; i++) {
		if (w.p->threads[i].first_root)
			err = write_thread(&w, &w.p->threads[i]);
	}
	if (!err) {
		r->cnt = write_profiles(&w, write_left_out(&w), &content);
		r->left_out = w.paths_left_out;
		otlp_wrap(&r->body, s, &content);
		proto_message(&r->body, REQUEST_DICTIONARY, &w.dictionary);
	}
	proto_free(&content);
	fini(&w);
	return err ? err : r->body.failed ? -ENOMEM : 0;
}
