// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/utf8.h"

#include <string.h>

#include "util/array.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static bool valid(const char *s)
{
	uint32_t code;
	size_t len;

	for (; *s; s += len) {
		len = utf8_decode(s, &code);
		if (!len)
			return false;
	}
	return true;
}

const char *utf8_repair(const char *s, char **buf, size_t *cap)
{
	size_t used = 0, len;
	uint32_t code;

	if (valid(s))
		return s;
	if (array_reserve((void **)buf, strlen(REPLACEMENT) * strlen(s) + 1, cap, 1))
		return NULL;
	for (; *s; s += len ? len : 1) {
		len = utf8_decode(s, &code);
		memcpy(*buf + used, len ? s : REPLACEMENT, len ? len : strlen(REPLACEMENT));
		used += len ? len : strlen(REPLACEMENT);
	}
	(*buf)[used] = '\0';
	return *buf;
}
