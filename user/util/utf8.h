/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_UTIL_UTF8_H
#define PROFTRACE_UTIL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decodes the character at `s`, a NUL-terminated string that is not at its end. Returns its length
 * in bytes, or 0 if the byte at `s` starts no valid UTF-8 (overlong forms, surrogates and code
 * points above U+10FFFF are invalid: RFC 3629). Never reads past the NUL. */
static inline size_t utf8_decode(const char *s, uint32_t *code)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char c = *s;
	size_t i, len;

	if (c < 0x80) {
		*code = c;
		return 1;
	}
	if (c < 0xc2 || c > 0xf4)
		return 0;
	len = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	*code = c & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < smallest[len] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return len;
}

#endif
