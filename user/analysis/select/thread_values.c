// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/thread_values.h"

#include <string.h>

#include "select/arguments.h"
#include "select/thread_context.h"
#include "symbol/thread_variable.h"

/* Gives the value of a name that no parameter has the place of a thread-local variable: a number of
 * 1, 2, 4 or 8 bytes, a string (:s; of 8 bytes a pointer to one), or, of another size, an array
 * that holds a string. Returns NULL, or why it cannot be read so. */
static const char *apply_variable(struct argument *arg, const struct thread_variable *v)
{
	bool is_number = v->size <= 8 && !(v->size & (v->size - 1));

	if (!arg->has_form)
		arg->form = is_number ? ARGUMENT_SIGNED : ARGUMENT_TEXT;
	if (!is_number && arg->form != ARGUMENT_TEXT)
		return "is larger than a number: :s";
	arg->number = 1; /* read at the entry */
	arg->place = (struct usdt_argument){
		.place = USDT_REGISTER,
		.bytes = 8,
		.base = USDT_THREAD_POINTER,
		.index = USDT_NO_REGISTER,
	};
	arg->inside = arg->form == ARGUMENT_TEXT && v->size != 8;
	arg->behind = !arg->inside;
	arg->offset = v->offset;
	if (!arg->has_bits)
		arg->bytes = is_number ? v->size : 8;
	if (arg->form == ARGUMENT_FLOAT && arg->bytes < 4)
		return "is no floating-point number";
	return arg->bytes <= v->size || arg->inside ? NULL : "has fewer bits";
}

static void look_up(const struct thread_values *at, bool anywhere, struct thread_value_place *out)
{
	out->why[0] = '\0';
	out->found = !out->library && thread_variable__find(at->img, out->name, &out->variable);
	if (!out->found && (out->library || anywhere))
		out->found = at->find(at, out->library, out->name, &out->variable, out->why,
				      sizeof(out->why));
}

static bool is_same_name(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Looked up, if it has not been before. */
static const struct thread_value_place *place_of(struct thread_values *at,
						 const struct argument *arg)
{
	struct thread_value_place *place;

	for (size_t i = 0; i < at->kept_cnt; i++) {
		place = &at->kept[i];
		if (is_same_name(place->library, arg->library) &&
		    is_same_name(place->name, arg->parameter))
			return place;
	}
	if (at->kept_cnt == THREAD_VALUES_KEPT)
		at->kept_cnt = 0;
	place = &at->kept[at->kept_cnt++];
	place->library = arg->library;
	place->name = arg->parameter;
	look_up(at, thread_context__has(arg), place);
	return place;
}

const char *thread_values__place(struct thread_values *at, struct argument *arg)
{
	const struct thread_value_place *place;

	if (arg->member && !thread_context__has(arg))
		return arg->library ? "is no member of what can be read in libraries" : "";
	place = place_of(at, arg);
	if (!place->found)
		return place->why;
	return thread_context__has(arg) ? thread_context__apply(arg, &place->variable)
					: apply_variable(arg, &place->variable);
}
