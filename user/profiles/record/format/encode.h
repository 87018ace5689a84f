/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of blocks, from what it says. Inside record/ only, and for its tests. */
#ifndef PROFTRACE_RECORD_FORMAT_ENCODE_H
#define PROFTRACE_RECORD_FORMAT_ENCODE_H

#include <stddef.h>
#include <stdint.h>

struct layout;
struct profile;
struct run_end;
struct run_info;

struct bytes {
	uint8_t *data;
	size_t len, cap;
};

/* Each appends to `out`, which the caller frees, and returns 0 or -ENOMEM. Memory: as much as the
 * content takes. */
int encode__run_info(const struct run_info *f, struct bytes *out);
int encode__end(const struct run_end *e, struct bytes *out);
int encode__profile(const struct profile *p, struct bytes *out);

/* Rows of a table of any layout, to be appended to `out`. */
struct table_rows {
	const struct layout *layout;
	const void *rows;
	size_t cnt;
};
int encode__tables(const struct table_rows *tables, size_t cnt, struct bytes *out);

#endif
