// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/data/csv_fields.h"

#include <inttypes.h>

#include "util/utf8.h"

static void end_field(FILE *out)
{
	putc_unlocked(',', out);
}

void csv__number(FILE *out, uint64_t value)
{
	fprintf(out, "%" PRIu64, value);
	end_field(out);
}

void csv__known(FILE *out, bool known, uint64_t value)
{
	if (known)
		csv__number(out, value);
	else
		end_field(out);
}

void csv__text(FILE *out, const char *text)
{
	const char *s = text ? text : "";
	char c[UTF8_MAX];
	size_t len;

	putc_unlocked('"', out);
	if (*s == '=' || *s == '+' || *s == '-' || *s == '@')
		putc_unlocked('\'', out);
	while ((len = utf8_next_plain(&s, c))) {
		if (*c == '"')
			putc_unlocked('"', out);
		fwrite_unlocked(c, 1, len, out);
	}
	putc_unlocked('"', out);
	end_field(out);
}
