/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of addresses that were met before: the one whose code it is, and behind it those that
 * were inlined there, the outermost first. */
#ifndef PROFTRACE_SAMPLE_CODE_FUNCTIONS_H
#define PROFTRACE_SAMPLE_CODE_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

struct code_functions {
	struct code_place_known {
		uint64_t address; /* 0: the place is free */
		size_t first;	  /* in `functions` */
		size_t cnt;
	} * places; /* open addressing */
	size_t places_cnt, places_size;
	uint32_t *functions;
	size_t functions_cnt, functions_cap;
};

/* The functions of an address, `*cnt` of them; NULL: it is new. Valid until the next one is added.
 */
const uint32_t *code_functions__find(const struct code_functions *c, uint64_t address, size_t *cnt);
/* Adds those of an address that is new, and not 0. Returns 0 or -ENOMEM. */
int code_functions__add(struct code_functions *c, uint64_t address, const uint32_t *functions,
			size_t cnt);
void code_functions__fini(struct code_functions *c); /* of a zeroed one, too */

#endif
