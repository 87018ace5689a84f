/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON to a stream as it is called: nothing is kept in memory, whatever the size or the
 * depth. Balance of json_open/json_close and keys inside objects are the caller's duty. Errors
 * show in ferror(). The stream is used without locking.
 */
#ifndef PROFTRACE_UTIL_JSON_H
#define PROFTRACE_UTIL_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool comma;   /* a value precedes on this level */
	bool in_page; /* it stands in an HTML page: no string may look like markup */
};

#define JSON_INIT(stream) ((struct json){.out = (stream)})

/* `bracket` is '{' or '[', and its counterpart to close. */
void json_open(struct json *j, char bracket);
void json_close(struct json *j, char bracket);

/* Most keys are ours; a stranger's, as the name of a file, is escaped as json_string() does. */
void json_key(struct json *j, const char *key);

/* NULL is written as null, invalid UTF-8 as U+FFFD. */
void json_string(struct json *j, const char *s);
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_double(struct json *j, double v); /* NaN and infinities are written as null */
/* v / 10^decimals, exactly: microseconds of nanoseconds have 3. */
void json_decimal(struct json *j, uint64_t v, unsigned int decimals);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);

/* A key with its value, or with the beginning of one. */
void json_member_string(struct json *j, const char *key, const char *v);
void json_member_u64(struct json *j, const char *key, uint64_t v);
void json_member_i64(struct json *j, const char *key, int64_t v);
void json_member_bool(struct json *j, const char *key, bool v);
void json_member_double(struct json *j, const char *key, double v);
void json_member_decimal(struct json *j, const char *key, uint64_t v, unsigned int decimals);
void json_member_open(struct json *j, const char *key, char bracket);

#endif
