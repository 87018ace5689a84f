// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths by values are found by one walk over the calls: a call's path is that of the call around it
 * and its function by its value. The paths that were there stay, as those of what is not told
 * apart, and of calls whose caller is missing. From then on a view gives each call its path by
 * looking it up in the same way; nothing is added any more, so that it finds the same one.
 */
#include "views/by_value.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/path_map.h"
#include "calls/profile.h"
#include "calls/tree.h"
#include "calls/values.h"
#include "timeline/timeline.h"
#include "util/array.h"
#include "util/hash.h"

#define NO_PLACE UINT32_MAX

/* A function by a value; `text` is in its name, which the caller of profile__split() owns. */
struct valued {
	uint32_t function, becomes;
	const char *text;
	size_t len;
};

/* How a function is split. */
struct splitting {
	uint32_t place; /* of the value in its calls'; NO_PLACE: it is not */
	uint32_t cnt;	/* values so far */
	bool hex;
};

/* An open call. */
struct open_call {
	uint32_t node, becomes;
	uint64_t leave_ns;
};

/* A node before it was split by values. */
struct origin {
	uint32_t parent, function, thread;
};

struct by_value {
	struct timeline base, *below;
	struct origin *origins; /* of the nodes that were there */
	uint32_t origins_cnt;
	struct splitting *functions; /* those that were there */
	struct valued *values;	     /* open addressing */
	size_t values_cnt;
	struct path_map paths;
	struct open_call *stack;
	size_t depth, stack_cap;
	/* While paths are found; NULL later. */
	struct profile *p;
	const char *value;
	struct value_names *names;
	size_t nodes_cap, functions_cap;
};

#define VALUE_SLOTS (2 * VALUES_IN_ALL)

void value_names__free(struct value_names *n)
{
	for (size_t i = 0; i < n->cnt; i++)
		free(n->items[i]);
	free(n->items);
	*n = (struct value_names){0};
}

static struct valued *slot_of(struct by_value *b, uint32_t function, const char *text)
{
	size_t len = strlen(text);
	uint64_t h = hash__mix(hash__keyed(text, len) ^ function);

	for (size_t i = h % VALUE_SLOTS;; i = (i + 1) % VALUE_SLOTS) {
		struct valued *v = &b->values[i];

		if (!v->text ||
		    (v->function == function && v->len == len && !memcmp(v->text, text, len)))
			return v;
	}
}

/* "f(arg1=5)". NULL: no memory. */
static char *make_name(struct by_value *b, const char *function, const char *value)
{
	char *made;

	if (ARRAY_RESERVE(&b->names->items, b->names->cnt, &b->names->cap) ||
	    asprintf(&made, "%s(%.*s=%s)", function ? function : "",
		     (int)value_name__length(b->value), b->value, value) < 0)
		return NULL;
	return b->names->items[b->names->cnt++] = made;
}

/* A function that is like another one but for its name, and has the same arguments. */
static int add_function(struct by_value *b, uint32_t like, const char *name)
{
	struct profile *p = b->p;
	struct profile_argument *grown;
	uint32_t cnt, function = p->functions_cnt;
	size_t first = profile__arguments(p, like, &cnt) - p->arguments;

	grown = reallocarray(p->arguments, p->arguments_cnt + cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->arguments = grown;
	if (ARRAY_RESERVE(&p->functions, p->functions_cnt, &b->functions_cap))
		return -ENOMEM;
	p->functions[p->functions_cnt] = p->functions[like];
	p->functions[p->functions_cnt++].name = name;
	for (uint32_t i = 0; i < cnt; i++)
		grown[p->arguments_cnt++] =
			(struct profile_argument){function, grown[first + i].name};
	return 0;
}

/* The function by the call's value; *made if it is new. Returns 0 or -ENOMEM. */
static int function_of(struct by_value *b, uint32_t function, const struct timeline_call *call,
		       uint32_t *out)
{
	struct splitting *s = &b->functions[function];
	char buf[VALUE_TEXT_LEN], *name;
	struct valued *v;
	const char *text = "?";

	*out = function;
	if (s->place == NO_PLACE)
		return 0;
	if (s->place < call->values_cnt)
		text = call_value__text(&call->values[s->place], s->hex, buf);
	v = slot_of(b, function, text);
	if (v->text) {
		*out = v->becomes;
		return 0;
	}
	if (!b->p || s->cnt == VALUES_OF_FUNCTION || b->values_cnt == VALUES_IN_ALL)
		return 0;
	name = make_name(b, b->p->functions[function].name, text);
	if (!name || add_function(b, function, name))
		return -ENOMEM;
	*out = b->p->functions_cnt - 1;
	/* The value's text ends before the closing bracket of the name. */
	*v = (struct valued){function, *out, name + strlen(name) - strlen(text) - 1, strlen(text)};
	s->cnt++;
	b->values_cnt++;
	return 0;
}

/* The path of a function below another path; made if there is room. Returns 0 or -ENOMEM; *out 0:
 * there is none. */
static int path_below(struct by_value *b, uint32_t parent, uint32_t function, uint32_t node,
		      uint32_t *out)
{
	const struct path_step step = path_step(parent, b->origins[node].thread, function);
	uint32_t *at = path_map__at(&b->paths, step);
	struct profile *p = b->p;

	if (!*at && p && p->nodes_cnt - b->origins_cnt < VALUE_PATHS) {
		if (ARRAY_RESERVE(&p->nodes, p->nodes_cnt, &b->nodes_cap))
			return -ENOMEM;
		p->nodes[p->nodes_cnt] = p->nodes[node];
		p->nodes[p->nodes_cnt].parent = parent;
		p->nodes[p->nodes_cnt].function = function;
		*at = p->nodes_cnt++;
	}
	*out = *at;
	return 0;
}

/* Ends the calls that are over; a call may end where it, and what it calls, begins. */
static void end_calls(struct by_value *b, const struct timeline_call *call, uint32_t parent)
{
	while (b->depth) {
		const struct open_call *top = &b->stack[b->depth - 1];

		if (top->leave_ns > call->enter_ns ||
		    (top->leave_ns == call->enter_ns && top->node == parent))
			break;
		b->depth--;
	}
}

/* Gives the call the path that it has by values. */
static int place_call(struct by_value *b, struct timeline_call *call)
{
	const uint32_t node = call->node;
	uint32_t parent, function, becomes = 0;
	int err;

	if (!node || node >= b->origins_cnt)
		return -EINVAL;
	parent = b->origins[node].parent;
	end_calls(b, call, parent);
	if (b->depth && b->stack[b->depth - 1].node == parent)
		parent = b->stack[b->depth - 1].becomes;
	err = function_of(b, b->origins[node].function, call, &function);
	if (!err)
		err = path_below(b, parent, function, node, &becomes);
	if (!err && !becomes)
		err = path_below(b, parent, b->origins[node].function, node, &becomes);
	if (!err && ARRAY_RESERVE(&b->stack, b->depth, &b->stack_cap))
		err = -ENOMEM;
	if (err)
		return err;
	call->node = becomes ? becomes : node;
	b->stack[b->depth++] = (struct open_call){node, call->node, call->leave_ns};
	return 0;
}

static int by_value_next(struct timeline *t, uint32_t thread, struct timeline_call *call)
{
	struct by_value *b = (struct by_value *)t;
	int more = b->below->next(b->below, thread, call), err;

	if (more <= 0)
		return more;
	err = place_call(b, call);
	return err ? err : 1;
}

static int by_value_rewind(struct timeline *t, uint32_t thread)
{
	struct by_value *b = (struct by_value *)t;

	b->depth = 0;
	return b->below->rewind(b->below, thread);
}

static void by_value_free(struct timeline *t)
{
	struct by_value *b = (struct by_value *)t;

	timeline__free(b->below);
	path_map__fini(&b->paths);
	free(b->origins);
	free(b->functions);
	free(b->values);
	free(b->stack);
	free(b);
}

/* Whether it is the value that is asked for: its format need not be named. */
static bool is_value(const struct profile_argument *a, const char *value)
{
	size_t len = strlen(value);

	return !strncmp(a->name, value, len) && (!a->name[len] || a->name[len] == ':');
}

/* Finds the functions that have the value. Returns whether there are any. */
static bool choose_functions(struct by_value *b, const struct profile *p, const char *value)
{
	bool found = false;

	for (size_t i = 0; i < p->functions_cnt; i++)
		b->functions[i].place = NO_PLACE;
	for (size_t i = p->arguments_cnt; i--;) {
		const struct profile_argument *a = &p->arguments[i];
		uint32_t cnt;

		if (!is_value(a, value))
			continue;
		found = true;
		if (!p->functions[a->function].sampled)
			b->functions[a->function] = (struct splitting){
				.place = a - profile__arguments(p, a->function, &cnt),
				.hex = argument__is_hex(a),
			};
	}
	return found;
}

static int note_paths(struct by_value *b, const struct profile *p)
{
	b->origins_cnt = p->nodes_cnt;
	b->origins = calloc(p->nodes_cnt + 1, sizeof(*b->origins));
	if (!b->origins || path_map__init(&b->paths, p->nodes_cnt + VALUE_PATHS))
		return -ENOMEM;
	for (size_t i = 1; i < p->nodes_cnt; i++) {
		const struct profile_node *n = &p->nodes[i];
		uint32_t *at =
			path_map__at(&b->paths, path_step(n->parent, n->thread, n->function));

		b->origins[i] = (struct origin){n->parent, n->function, n->thread};
		*at = *at ? *at : i;
	}
	return 0;
}

/* One walk over all calls. */
static int find_paths(struct by_value *b, size_t threads_cnt)
{
	struct timeline_call call;
	int err = 0;

	for (uint32_t i = 0; i < threads_cnt && !err; i++) {
		if (!b->p->threads[i].first_root)
			continue;
		err = by_value_rewind(&b->base, i);
		while (!err && (err = by_value_next(&b->base, i, &call)) > 0)
			err = 0;
	}
	return err;
}

int profile__split(struct profile *p, const char *value, struct value_names *names)
{
	struct by_value *b = calloc(1, sizeof(*b));
	size_t functions_cnt = p->functions_cnt;
	int err;

	if (!b)
		return -ENOMEM;
	*b = (struct by_value){
		.base = {.next = by_value_next,
			 .rewind = by_value_rewind,
			 .free = by_value_free,
			 .lost = p->timeline->lost},
		.p = p,
		.value = value,
		.names = names,
		.nodes_cap = p->nodes_cnt,
		.functions_cap = p->functions_cnt,
	};
	b->functions = calloc(p->functions_cnt + 1, sizeof(*b->functions));
	b->values = calloc(VALUE_SLOTS, sizeof(*b->values));
	err = b->functions && b->values ? 0 : -ENOMEM;
	if (!err && !choose_functions(b, p, value))
		err = -ENOENT;
	if (!err)
		err = note_paths(b, p);
	if (err) {
		by_value_free(&b->base);
		return err;
	}
	b->below = p->timeline;
	p->timeline = &b->base;
	err = find_paths(b, p->threads_cnt);
	for (size_t i = 0; i < functions_cnt && !err; i++) {
		char *name;

		if (b->functions[i].place == NO_PLACE)
			continue;
		name = make_name(b, p->functions[i].name, "other");
		if (name)
			p->functions[i].name = name;
		else
			err = -ENOMEM;
	}
	b->p = NULL;
	return err ? err : profile__connect(p);
}
