/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values that are wanted of functions' calls: -A 'GLOB(arg1, arg2:s, arg1+16, ret)'. By the rules
 * of the System V ABI: arguments 1 to 6 that are integers or pointers lie in registers, further
 * ones on the stack. Instead of by number they may be named, 'GLOB(req, req->id)', and are then
 * found by each function's debug information (named_arguments.h).
 */
#ifndef PROFTRACE_SELECT_ARGUMENTS_H
#define PROFTRACE_SELECT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "select/filter.h"
#include "symbol/usdt_argument.h"

#define ARGUMENTS_MAX  8 /* of a function */
#define ARGUMENT_LISTS 255
#define ARGUMENT_TEXTS 3   /* strings of a call: see struct wire_values */
#define ARGUMENT_WHY   256 /* bytes of a reason */

enum argument_form {
	ARGUMENT_SIGNED,
	ARGUMENT_UNSIGNED,
	ARGUMENT_HEX,
	ARGUMENT_FLOAT,
	ARGUMENT_TEXT, /* a pointer to it */
};

struct argument {
	char *name; /* as it was asked for */
	/* Found by name: all else is known of single functions only. NULL: by number. */
	char *parameter, *member; /* NULL: the parameter itself */
	char *library; /* of the thread-local variable `parameter`; NULL: not a library's */
	bool has_form, has_bits; /* they were asked for */
	bool optional;		 /* a function without it keeps the list's other values */
	uint8_t number;		 /* from 1 on; 0: the result */
	uint8_t form;		 /* enum argument_form */
	uint8_t bytes;		 /* of the value: 1, 2, 4 or 8 */
	bool behind;		 /* it is what lies `offset` bytes behind the pointer there */
	bool inside;		 /* ... and that is the string itself, not a pointer to it */
	int32_t offset;
	struct usdt_argument place; /* of a probe's value; USDT_NOWHERE: of a function's */
};

enum argument_relation { /* in the order of enum wire_relation */
			 ARGUMENT_EQUAL,
			 ARGUMENT_UNEQUAL,
			 ARGUMENT_BELOW,
			 ARGUMENT_AT_MOST,
			 ARGUMENT_ABOVE,
			 ARGUMENT_AT_LEAST,
};

/* A condition (--if) on a value, by which a call is recorded: 'arg2 > 4096'. */
struct argument_condition {
	uint8_t item;	  /* of the list */
	uint8_t relation; /* enum argument_relation */
	uint64_t than;
	const char *number; /* as it was given; borrowed */
};

#define ARGUMENT_CONDITIONS 4 /* of a function */

/* One -A, or an --if of functions without one. */
struct argument_list {
	const char *option, *text; /* borrowed */
	char *glob;
	struct filter_pattern pattern;
	struct argument_condition conditions[ARGUMENT_CONDITIONS]; /* all must hold */
	size_t conditions_cnt;
	struct argument items[ARGUMENTS_MAX];
	size_t cnt;
	bool refused;	 /* it matches functions that pass arguments in another way */
	bool named;	 /* some value is, so no function has this list itself */
	uint32_t given;	 /* it was made of that list, whose texts it borrows; 0: it was asked for */
	size_t failures; /* functions whose parameters were not found, not reported yet */
	char why[ARGUMENT_WHY]; /* of the first one */
};

/* Lists are known by number, from 1 on. */
struct arguments {
	struct argument_list *lists;
	size_t cnt;
};

struct symbol;

/* The first `given` are of -A, those up to `linked` what --link needs, the others what --session-id
 * needs. Returns 0, or -errno with one line logged that says what is wrong; texts are borrowed. */
int arguments__parse(struct arguments *a, char *const *texts, size_t cnt, size_t given,
		     size_t linked);
void arguments__clear(struct arguments *a);

/* Parses what --if says: 'arg2 > 4096' of the only list, or 'GLOB: arg2 > 4096'. Returns as
 * arguments__parse(). */
int arguments__restrict(struct arguments *a, char *const *texts, size_t cnt);

/* For that: has the list have a value of that name. Returns its place, or -errno with one line
 * logged.
 */
int argument_list__add(struct argument_list *l, const char *name, size_t len);

/* Removes its optional values, which are its last ones. */
void argument_list__drop_optional(struct argument_list *l);
void argument_list__clear(struct argument_list *l);

/* Whether a list has a value of that name ("arg1", also for "arg1:x"). */
bool arguments__have(const struct arguments *a, const char *name);

/* Once forms are known: reads the conditions' numbers. Returns whether they are such as the values
 * can be; else `why` tells why not. */
bool argument_list__settle(struct argument_list *l, char *why, size_t size);

/* The number of the first list that matches the function; 0: none does. Notes which have matched,
 * or would have. */
uint32_t arguments__of(struct arguments *a, const struct filter_object *obj,
		       const struct symbol *sym);

/* The first list that has matched nothing; NULL: there is none. */
const struct argument_list *arguments__unmatched(const struct arguments *a);

/* Whether values are named, so that more lists may come with each file. */
bool arguments__named(const struct arguments *a);

/* The registers, and memory, from which a list's values are read, so that they must be as they were
 * at the entry: bit 0 for the first argument. Example: arg2 needs 1 << 1. */
#define ARGUMENTS_NEED_MEMORY (1u << 31)
uint32_t argument_list__needs(const struct argument_list *l);

#endif
