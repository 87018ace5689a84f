/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of arguments and results (-A) of single calls. */
#ifndef PROFTRACE_CALLS_VALUES_H
#define PROFTRACE_CALLS_VALUES_H

#include <stdint.h>

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

#endif
