/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of calls on their way from BPF's tables.  */
#ifndef PROFTRACE_TABLES_VALUE_STORE_H
#define PROFTRACE_TABLES_VALUE_STORE_H

#include <stddef.h>

struct bpf_tables;
struct timeline_call;
struct value_store;
struct wire_values;

/* Room for those of `calls` calls; `t` is borrowed. NULL: no memory. Freed by free(). */
struct value_store *value_store__new(const struct bpf_tables *t, size_t calls);

/* Gives the call its values, which stay until the store is cleared. Those of an unknown list, or
 * for which there is no room, it does not get. Of `values` there is as much as its records say. */
void value_store__take(struct value_store *s, const struct wire_values *values,
		       struct timeline_call *call);
void value_store__clear(struct value_store *s);

#endif
