// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text for people: names that strangers chose become harmless on a terminal, numbers become
 * readable. All arithmetic is on integers, so that output is the same in every locale.
 */
#include "util/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/utf8.h"

bool text_cut_deleted(char *path)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), cut = strlen(deleted);

	if (len <= cut || strcmp(path + len - cut, deleted))
		return false;
	path[len - cut] = '\0';
	return true;
}

char *text_escape(const char *name, char *buf, size_t size)
{
	size_t len = 0;

	if (!size)
		return buf;
	while (*name) {
		uint32_t code = 0;
		size_t i, in = utf8_decode(name, &code);
		bool safe = in && !utf8_is_control(code);
		size_t out;

		if (!in)
			in = 1;
		out = safe ? in : in * strlen("\\xNN");
		/* Whole characters and escapes only: half a one is unsafe or misleading. */
		if (out >= size - len)
			break;
		if (safe)
			memcpy(buf + len, name, in);
		for (i = 0; !safe && i < in; i++)
			sprintf(buf + len + 4 * i, "\\x%02x", (unsigned char)name[i]);
		len += out;
		name += in;
	}
	buf[len] = '\0';
	return buf;
}

/* Prints `value` in units of `of_unit` with three significant digits, and the unit's name. Returns
 * false if that needs four. */
static bool three_digits(uint64_t value, uint64_t of_unit, const char *unit, char *buf, size_t size)
{
	unsigned int decimals, power = 100;

	for (decimals = 2;; decimals--, power /= 10) {
		uint64_t step = of_unit / power;
		uint64_t scaled = value / step + (value % step >= step / 2);

		if (scaled < 1000 && decimals) {
			snprintf(buf, size, "%" PRIu64 ".%0*" PRIu64 "%s", scaled / power,
				 (int)decimals, scaled % power, unit);
			return true;
		}
		if (!decimals) {
			snprintf(buf, size, "%" PRIu64 "%s", scaled, unit);
			return scaled < 1000;
		}
	}
}

char *text_duration(uint64_t ns, char *buf, size_t size)
{
	if (ns < 1000)
		snprintf(buf, size, "%" PRIu64 " ns", ns);
	else if (!three_digits(ns, 1000, " us", buf, size) &&
		 !three_digits(ns, 1000000, " ms", buf, size))
		three_digits(ns, 1000000000, " s", buf, size);
	return buf;
}

char *text_below(uint64_t ns, char *buf, size_t size)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	uint64_t power = 1, step = 1;
	size_t unit = 0;

	while (power < UINT64_MAX / 100 && 5 * power < ns)
		power *= 10;
	step = ns <= power ? power : ns <= 2 * power ? 2 * power : 5 * power;
	for (; unit < 3 && step >= 1000; unit++)
		step /= 1000;
	snprintf(buf, size, "<%" PRIu64 " %s", step, units[unit]);
	return buf;
}

char *text_percent(double percent, char *buf, size_t size)
{
	unsigned int tenths;

	if (!(percent > 0))
		percent = 0;
	if (percent > 1e6)
		percent = 1e6;
	tenths = (unsigned int)(percent * 10 + 0.5);
	if (percent > 0 && !tenths)
		snprintf(buf, size, "<0.1%%");
	else if (tenths < 10000)
		snprintf(buf, size, "%u.%u%%", tenths / 10, tenths % 10);
	else
		snprintf(buf, size, "%u%%", tenths / 10);
	return buf;
}

char *text_count(uint64_t count, char *buf, size_t size)
{
	char digits[24], *in = digits, *out = buf;
	int left = snprintf(digits, sizeof(digits), "%" PRIu64, count);

	if (!size)
		return buf;
	for (; left; left--) {
		if (out + 1 < buf + size)
			*out++ = *in;
		in++;
		if (left % 3 == 1 && left > 1 && out + 1 < buf + size)
			*out++ = ',';
	}
	*out = '\0';
	return buf;
}

char *text_rough_count(uint64_t count, char *buf, size_t size)
{
	static const char *const units[] = {"k", "M", "G", "T", "P", "E"};
	uint64_t of_unit = 1000;

	if (count < 10000)
		return text_count(count, buf, size);
	for (size_t i = 0; !three_digits(count, of_unit, units[i], buf, size); i++)
		of_unit *= 1000;
	return buf;
}

static uint64_t amount(int64_t n)
{
	return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

/* Writes the sign if there is one, and room for it. Returns what is left. */
static char *put_sign(bool negative, bool zero, char *buf, size_t *size)
{
	if (zero || *size < 2)
		return buf;
	*buf = negative ? '-' : '+';
	--*size;
	return buf + 1;
}

char *text_signed_duration(int64_t ns, char *buf, size_t size)
{
	char *rest = put_sign(ns < 0, !ns, buf, &size);

	text_duration(amount(ns), rest, size);
	return buf;
}

char *text_signed_count(int64_t count, char *buf, size_t size)
{
	char *rest = put_sign(count < 0, !count, buf, &size);

	text_count(amount(count), rest, size);
	return buf;
}

char *text_signed_percent(double percent, char *buf, size_t size)
{
	bool zero = percent > -0.05 && percent < 0.05;
	char *rest = put_sign(percent < 0, zero, buf, &size);

	text_percent(zero ? 0 : percent < 0 ? -percent : percent, rest, size);
	return buf;
}

size_t text_library_length(const char *name)
{
	const size_t len = strcspn(name, ":");
	const char *at = name;

	/* Members of members may have such names, too: "req->head.so:x". */
	if (!name[len] || memmem(name, len, "->", 2))
		return 0;
	while ((at = memmem(at, len - (at - name), ".so", 3))) {
		at += 3;
		if (*at == ':' || *at == '.')
			return len;
	}
	return 0;
}
