/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bounded set of numbers: what a receiver has been told already. Inside fleet/ only. */
#ifndef PROFTRACE_FLEET_ID_SET_H
#define PROFTRACE_FLEET_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_SET_MAX (1u << 20) /* beyond it begins anew, empty */

struct id_set {
	uint64_t *slots; /* 0: free, as no id is */
	size_t mask, cnt;
};

bool id_set__has(const struct id_set *s, uint64_t id);

/* Without memory it forgets. */
void id_set__add(struct id_set *s, uint64_t id);
void id_set__clear(struct id_set *s);

#endif
