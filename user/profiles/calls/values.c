// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "util/search.h"
#include "util/text.h"

struct call_value *call_values__copy(const struct call_value *values, uint32_t cnt)
{
	struct call_value *copy;
	size_t texts = 0;
	char *text;

	for (uint32_t i = 0; i < cnt; i++)
		texts += values[i].kind == VALUE_TEXT ? strlen(values[i].text) + 1 : 0;
	copy = cnt ? malloc(cnt * sizeof(*copy) + texts) : NULL;
	if (!copy)
		return NULL;
	memcpy(copy, values, cnt * sizeof(*copy));
	text = (char *)(copy + cnt);
	for (uint32_t i = 0; i < cnt; i++) {
		if (copy[i].kind != VALUE_TEXT)
			continue;
		copy[i].text = strcpy(text, values[i].text);
		text += strlen(text) + 1;
	}
	return copy;
}

const struct profile_argument *profile__arguments(const struct profile *p, uint32_t function,
						  uint32_t *cnt)
{
	size_t first = LOWER_BOUND(p->arguments_cnt, i, p->arguments[i].function < function);
	size_t end = first;

	while (end < p->arguments_cnt && p->arguments[end].function == function)
		end++;
	*cnt = end - first;
	return p->arguments ? &p->arguments[first] : NULL;
}

size_t value_name__length(const char *name)
{
	size_t library = text_library_length(name), from = library ? library + 1 : 0;

	return from + strcspn(name + from, ":");
}

bool argument__is_hex(const struct profile_argument *a)
{
	const char *form = a->name + value_name__length(a->name);

	return form[0] == ':' && form[1] == 'x';
}

const char *call_value__text(const struct call_value *v, bool hex, char *buf)
{
	switch (v->kind) {
	case VALUE_INT:
		snprintf(buf, VALUE_TEXT_LEN, "%" PRId64, v->i);
		return buf;
	case VALUE_UINT:
		snprintf(buf, VALUE_TEXT_LEN, hex ? "0x%" PRIx64 : "%" PRIu64, v->u);
		return buf;
	case VALUE_FLOAT:
		snprintf(buf, VALUE_TEXT_LEN, "%.17g", v->f);
		return buf;
	case VALUE_TEXT:
		return v->text;
	case VALUE_NONE:
		break;
	}
	return "?";
}

uint32_t profile__argument_number(const struct profile *p, uint32_t function, const char *name)
{
	size_t len = strlen(name);
	uint32_t cnt;
	const struct profile_argument *a = profile__arguments(p, function, &cnt);

	for (uint32_t i = 0; i < cnt; i++) {
		if (!strncmp(a[i].name, name, len) && (!a[i].name[len] || a[i].name[len] == ':'))
			return i + 1;
	}
	return 0;
}
