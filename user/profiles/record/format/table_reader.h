/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the tables in the content of blocks. Inside record/ only. */
#ifndef PROFTRACE_RECORD_FORMAT_TABLE_READER_H
#define PROFTRACE_RECORD_FORMAT_TABLE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "record/format/layout.h"

struct memory;

struct table_reader {
	const uint8_t *at, *end;
	struct memory *memory;
	const char **strings;
	size_t strings_cnt;
};

/* The destination of a table's rows: `rows` is an array of its own, freed by the caller, behind
 * `lead` zeroed rows and before one. */
struct table_place {
	const struct layout *layout;
	size_t lead;
	void **rows;
	size_t *cnt; /* of the rows that were stored */
};

/* Reads all tables into the places of theirs, each at most once; skips those without a place.
 * Returns 0, -EINVAL or -ENOMEM; the rows that were read are the caller's in any case. */
int table_reader__read(struct table_reader *t, const struct table_place *places, size_t places_cnt);

#endif
