// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/assertion.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/values.h"

#define SPACE	   " \t"
#define VALUE_SIZE 32

static const char *const measure_names[MEASURES] = {"calls", "total", "self", "avg",
						    "p50",   "p90",   "p99",  "max"};
static const char *const comparison_names[COMPARISONS] = {"<", "<=", ">", ">=", "=="};

/* The name that [text, text + len) is; `cnt`: none. */
static size_t find(const char *const *names, size_t cnt, const char *text, size_t len)
{
	size_t i = 0;

	while (i < cnt && (strlen(names[i]) != len || strncmp(names[i], text, len) != 0))
		i++;
	return i;
}

static bool parse_limit(const char *text, bool calls, uint64_t *limit)
{
	char value[VALUE_SIZE] = "";
	size_t len = strlen(text);

	while (len && strchr(SPACE, text[len - 1]))
		len--;
	if (!len || len >= sizeof(value))
		return false;
	memcpy(value, text, len);
	if (!calls)
		return value__duration(value, limit);
	errno = 0;
	*limit = strtoull(value, NULL, 10);
	return !errno && strspn(value, "0123456789") == len;
}

/* Parses the part behind the function: "< 5ms". Returns what assertion__parse() does; *at counts
 * from `text` on. */
static const char *parse_bound(struct assertion *a, const char *text, const char *rest,
			       unsigned int *at)
{
	size_t len;

	rest += strspn(rest, SPACE);
	*at = rest - text + 1;
	len = strspn(rest, "<>=!");
	a->comparison = find(comparison_names, COMPARISONS, rest, len);
	if (a->comparison == COMPARISONS)
		return "<, <=, >, >= or == is expected";
	rest += len + strspn(rest + len, SPACE);
	*at = rest - text + 1;
	if (!parse_limit(rest, a->measure == MEASURE_CALLS, &a->limit))
		return a->measure == MEASURE_CALLS ? "a number of calls is expected"
						   : "a time with its unit is expected, as 5ms";
	return NULL;
}

const char *assertion__parse(struct assertion *a, const char *text, unsigned int *at)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')'), *rest;
	const char *name = text + strspn(text, SPACE);
	size_t len = strcspn(name, SPACE "(");

	*a = (struct assertion){.text = text};
	*at = name - text + 1;
	a->measure = find(measure_names, MEASURES, name, len);
	if (a->measure == MEASURES)
		return "calls, total, self, avg, p50, p90, p99 or max, and then (FUNCTION), "
		       "are expected";
	rest = name + len + strspn(name + len, SPACE);
	*at = rest - text + 1;
	if (rest != open)
		return "(FUNCTION) is expected";
	*at = open + 1 - text + 1;
	if (!close || close == open + 1)
		return "the name of a function and ) are expected";
	a->glob = strndup(open + 1, close - open - 1);
	if (!a->glob)
		return "memory for a name is missing";
	return parse_bound(a, text, close + 1, at);
}

const char *assertion__parse_rule(struct assertion *a, const char *text, unsigned int *at)
{
	const char *glob = text + strspn(text, SPACE), *colon = strrchr(text, ':'), *name;
	const char *missing;
	size_t len;

	*a = (struct assertion){.text = text};
	*at = glob - text + 1;
	if (!colon || colon == glob)
		return "the name of a function and : are expected, as 'handle_*: p99 < 5ms'";
	name = colon + 1 + strspn(colon + 1, SPACE);
	*at = name - text + 1;
	len = strcspn(name, SPACE "<>=!");
	a->measure = find(measure_names, MEASURES, name, len);
	if (a->measure < MEASURE_SUMS || a->measure == MEASURES)
		return "avg, p50, p90, p99 or max is expected";
	for (len = colon - glob; len && strchr(SPACE, glob[len - 1]);)
		len--;
	a->glob = strndup(glob, len);
	if (!a->glob)
		return "memory for a name is missing";
	name += strlen(measure_names[a->measure]);
	missing = parse_bound(a, text, name, at);
	if (missing)
		return missing;
	*at = name + strspn(name, SPACE) - text + 1;
	if (a->comparison != LESS && a->comparison != LESS_OR_EQUAL)
		return "< or <= is expected: a rule says how long calls may take";
	return NULL;
}

const char *measure__name(enum measure m)
{
	return measure_names[m];
}

bool assertion__holds(const struct assertion *a, uint64_t value)
{
	switch (a->comparison) {
	case LESS:
		return value < a->limit;
	case LESS_OR_EQUAL:
		return value <= a->limit;
	case GREATER:
		return value > a->limit;
	case GREATER_OR_EQUAL:
		return value >= a->limit;
	default:
		return value == a->limit;
	}
}
