// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/thread_values.h"

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

const char *thread_values__place(const struct elf_image *img, struct argument *arg)
{
	struct thread_variable v;

	if (arg->member && !thread_context__has(arg))
		return "";
	if (!thread_variable__find(img, arg->parameter, &v))
		return thread_context__has(arg) ? "is not there: the program has no thread-local "
						  "variable of that name, so it publishes no "
						  "thread context of OpenTelemetry's"
						: "";
	return thread_context__has(arg) ? thread_context__apply(arg, &v) : apply_variable(arg, &v);
}
