// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/values.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool value__seconds(const char *text, uint64_t *ns)
{
	char *end;
	double sec;

	errno = 0;
	sec = strtod(text, &end);
	if (errno || end == text || *end || !(sec > 0) || sec >= 1e9)
		return false;
	*ns = sec * 1e9;
	return *ns > 0;
}

static bool parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double n;

	errno = 0;
	n = strtod(text, &end);
	if (errno || end == text || !(n >= 0))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].name) || n * units[i].ns >= 1e18)
			continue;
		*ns = n * units[i].ns;
		return true;
	}
	return false;
}

/* strtod() takes "0x10" for 16. */
static bool is_hexadecimal(const char *text)
{
	return strpbrk(text, "xX") != NULL;
}

bool value__size(const char *text, uint64_t min, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	double n;

	errno = 0;
	n = strtod(text, &end);
	if (errno || end == text || !(n > 0) || is_hexadecimal(text))
		return false;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	for (const char *u = units; unit && u <= unit; u++)
		n *= 1024;
	if (*end && (!unit || end[1]))
		return false;
	if (n < (double)min || n >= 1e15)
		return false;
	*bytes = n;
	return true;
}

bool value__duration(const char *text, uint64_t *ns)
{
	return parse_time(text, ns) && *ns > 0;
}

/* An end of a range: seconds, if there is no unit; and if there is nothing, *ns stays. */
static bool parse_moment(const char *text, size_t len, uint64_t *ns)
{
	char word[64];

	if (!len)
		return true;
	if (snprintf(word, sizeof(word), "%.*s%s", (int)len, text,
		     isalpha((unsigned char)text[len - 1]) ? "" : "s") >= (int)sizeof(word))
		return false;
	return parse_time(word, ns);
}

bool value__percent(const char *text, double *percent)
{
	char *end;

	if (!strcmp(text, "none")) {
		*percent = 0;
		return true;
	}
	errno = 0;
	*percent = strtod(text, &end);
	return !errno && end != text && !*end && !is_hexadecimal(text) && *percent > 0 &&
	       *percent <= 1e6;
}

bool value__number(const char *text, unsigned long max, uint32_t *out)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || !isdigit((unsigned char)*text) || *end || !n || n > max)
		return false;
	*out = n;
	return true;
}

bool value__range(const char *text, uint64_t *from_ns, uint64_t *to_ns)
{
	const char *dots = strstr(text, "..");

	*from_ns = 0;
	*to_ns = UINT64_MAX;
	return dots && parse_moment(text, dots - text, from_ns) &&
	       parse_moment(dots + 2, strlen(dots + 2), to_ns) && *from_ns < *to_ns;
}
