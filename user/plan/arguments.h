/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values that are wanted of functions' calls: -A 'GLOB(arg1, arg2:s, arg1+16, ret)'. By the rules
 * of the System V ABI: arguments 1 to 6 that are integers or pointers lie in registers, further
 * ones on the stack.
 */
#ifndef PROFTRACE_PLAN_ARGUMENTS_H
#define PROFTRACE_PLAN_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/filter.h"

#define ARGUMENTS_MAX	   8 /* of a function */
#define ARGUMENT_LISTS	   255
#define ARGUMENT_REGISTERS 6

enum argument_form {
	ARGUMENT_SIGNED,
	ARGUMENT_UNSIGNED,
	ARGUMENT_HEX,
	ARGUMENT_FLOAT,
	ARGUMENT_TEXT, /* a pointer to it */
};

struct argument {
	char *name;	/* as it was asked for */
	uint8_t number; /* from 1 on; 0: the result */
	uint8_t form;	/* enum argument_form */
	uint8_t bytes;	/* of the value: 1, 2, 4 or 8 */
	bool behind;	/* it is what lies `offset` bytes behind the pointer there */
	int32_t offset;
};

enum argument_relation { /* in the order of enum wire_relation */
			 ARGUMENT_EQUAL,
			 ARGUMENT_UNEQUAL,
			 ARGUMENT_BELOW,
			 ARGUMENT_AT_MOST,
			 ARGUMENT_ABOVE,
			 ARGUMENT_AT_LEAST,
};

/* What a call's value must be for the call to be recorded. */
struct argument_condition {
	uint8_t item;	  /* of the list */
	uint8_t relation; /* enum argument_relation */
	uint64_t than;
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
	bool refused; /* it matches functions that pass arguments in another way */
};

/* Lists are known by number, from 1 on. */
struct arguments {
	struct argument_list *lists;
	size_t cnt;
};

struct symbol;

/* Returns 0, or -errno with one line logged that says what is wrong; texts are borrowed. */
int arguments__parse(struct arguments *a, char *const *texts, size_t cnt);
void arguments__clear(struct arguments *a);

/* The same of --if: 'arg2 > 4096' of the only list, or 'GLOB: arg2 > 4096'. */
int arguments__restrict(struct arguments *a, char *const *texts, size_t cnt);

/* For that: has the list have a value of that name. Returns its place, or -errno with one line
 * logged.
 */
int argument_list__add(struct argument_list *l, const char *name, size_t len);

/* The number of the first list that matches the function; 0: none does. Notes which have matched,
 * or would have. */
uint32_t arguments__of(struct arguments *a, const struct filter_object *obj,
		       const struct symbol *sym);

/* The first list that has matched nothing; NULL: there is none. */
const struct argument_list *arguments__unmatched(const struct arguments *a);

/* What must be as it was at the entry for a list's values to be right: registers, a bit for each
 * argument from bit 0 on, and memory. */
#define ARGUMENTS_NEED_MEMORY (1u << 31)
uint32_t argument_list__needs(const struct argument_list *l);

#endif
