// SPDX-License-Identifier: GPL-2.0-or-later
#include "sessions/trace_context.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Takes 2 * `cnt` hexadecimal digits, behind which `end` comes, which is passed over. */
static bool take_hex(const char **text, uint8_t *bytes, size_t cnt, char end)
{
	for (size_t i = 0; i < cnt; i++, *text += 2) {
		if (!isxdigit((unsigned char)(*text)[0]) || !isxdigit((unsigned char)(*text)[1]))
			return false;
		bytes[i] = digit((*text)[0]) << 4 | digit((*text)[1]);
	}
	return *(*text)++ == end;
}

bool trace_context__parse(struct trace_context *c, const char *text)
{
	static const uint8_t none[TRACE_ID_SIZE];
	uint8_t version;
	bool ok;

	*c = (struct trace_context){0};
	if (strchr(text, '-'))
		ok = take_hex(&text, &version, 1, '-') && version != 0xff &&
		     take_hex(&text, c->trace, TRACE_ID_SIZE, '-') &&
		     take_hex(&text, c->parent, SPAN_ID_SIZE, '-') &&
		     /* Later versions may have more behind it. */
		     (take_hex(&text, &c->flags, 1, '\0') || (version && text[-1] == '-'));
	else
		ok = take_hex(&text, c->trace, TRACE_ID_SIZE, '\0');
	return ok && memcmp(c->trace, none, sizeof(none));
}
