/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of the Firefox Profiler's tables: arrays, as members of an open object. */
#ifndef PROFTRACE_SINK_TOOLS_FIREFOX_COLUMNS_H
#define PROFTRACE_SINK_TOOLS_FIREFOX_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

/* A value in one. */
void column__u64_or_null(struct json *j, bool known, uint64_t v);

/* A column that says nothing: null, or -1 where that means the same. */
void column__empty(struct json *j, const char *key, size_t cnt, bool minus_one);

void column__constant(struct json *j, const char *key, size_t cnt, uint64_t v);
/* first, first + 1, ... */
void column__counting(struct json *j, const char *key, size_t cnt, uint64_t first);
void column__false(struct json *j, const char *key, size_t cnt);

#endif
