// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/tools/firefox_columns.h"

#include "util/json.h"

void column__u64_or_null(struct json *j, bool known, uint64_t v)
{
	if (known)
		json_u64(j, v);
	else
		json_null(j);
}

void column__empty(struct json *j, const char *key, size_t cnt, bool minus_one)
{
	json_member_open(j, key, '[');
	for (; cnt; cnt--) {
		if (minus_one)
			json_i64(j, -1);
		else
			json_null(j);
	}
	json_close(j, ']');
}

void column__constant(struct json *j, const char *key, size_t cnt, uint64_t v)
{
	json_member_open(j, key, '[');
	for (; cnt; cnt--)
		json_u64(j, v);
	json_close(j, ']');
}

void column__counting(struct json *j, const char *key, size_t cnt, uint64_t first)
{
	json_member_open(j, key, '[');
	for (; cnt; cnt--)
		json_u64(j, first++);
	json_close(j, ']');
}

void column__false(struct json *j, const char *key, size_t cnt)
{
	json_member_open(j, key, '[');
	for (; cnt; cnt--)
		json_bool(j, false);
	json_close(j, ']');
}
