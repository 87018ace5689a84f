/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of arguments and results (-A) of single calls. */
#ifndef PROFTRACE_CALLS_VALUES_H
#define PROFTRACE_CALLS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_argument;

struct call_value {
	enum {
		VALUE_NONE, /* it could not be read, or the call has not returned */
		VALUE_INT,
		VALUE_UINT,
		VALUE_FLOAT,
		VALUE_TEXT, /* UTF-8 not guaranteed: it comes from the target's memory */
	} kind;
	union {
		int64_t i;
		uint64_t u;
		double f;
		const char *text;
	};
};

/* A copy in one piece of memory, texts included, which the caller frees; NULL: no memory, or no
 * values. */
struct call_value *call_values__copy(const struct call_value *values, uint32_t cnt);

/* The values that are recorded of a function's calls; *cnt: how many. */
const struct profile_argument *profile__arguments(const struct profile *p, uint32_t function,
						  uint32_t *cnt);

/* The number of a function's value, from 1 on; 0: it has none of that name. How it is to be shown
 * need not be said: "arg1" also names "arg1:x". */
uint32_t profile__argument_number(const struct profile *p, uint32_t function, const char *name);

/* The length of a value's name without its format: 4 of "arg1:x", 20 of "libapp.so:request_id:x".
 */
size_t value_name__length(const char *name);

/* Whether its values were asked for as hexadecimal (":x"). */
bool argument__is_hex(const struct profile_argument *a);

/* A value as text for people, in `buf` of at least VALUE_TEXT_LEN bytes, or its own. "?": it is not
 * known. */
#define VALUE_TEXT_LEN 32
const char *call_value__text(const struct call_value *v, bool hex, char *buf);

#endif
