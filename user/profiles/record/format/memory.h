/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that a decoded block's results borrow: one owner for all of it. Inside record/ only. */
#ifndef PROFTRACE_RECORD_FORMAT_MEMORY_H
#define PROFTRACE_RECORD_FORMAT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Owns what the results borrow: zero it, free it last. Each may be used for one result. */
struct memory {
	void **items;
	size_t cnt, cap;
	uint64_t room; /* bytes that rows may take yet; 0: any */
};

void memory__free(struct memory *m);

/* Has the memory keep `p`, which is freed if that fails. Returns 0 or -ENOMEM. */
int memory__keep(struct memory *m, void *p);

#endif
