/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_UTIL_UTF8_H
#define PROFTRACE_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* How many characters a string of valid UTF-8 has: 4 in "a…b!". */
static inline size_t utf8_count(const char *s)
{
	size_t cnt = 0;

	for (; *s; s++)
		cnt += (*s & 0xc0) != 0x80;
	return cnt;
}

/* Whether a character does something instead of being seen: controls (C0, DEL, C1), and those that
 * reorder or break lines, with which one text can be made to look like another. */
static inline bool utf8_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

#define UTF8_MAX 4 /* bytes of a character */

/* The next character of a stranger's name for a line of text: controls become blanks, what is not
 * valid UTF-8 becomes U+FFFD. Moves *s on. Returns the character's length in `out`, 0 at the end.
 */
static inline size_t utf8_next_plain(const char **s, char out[UTF8_MAX])
{
	uint32_t code = 0;
	size_t len;

	if (!**s)
		return 0;
	len = utf8_decode(*s, &code);
	memcpy(out, *s, len);
	*s += len ? len : 1;
	if (!len) {
		len = 3;
		memcpy(out, "\xef\xbf\xbd", len);
	} else if (utf8_is_control(code)) {
		len = 1;
		*out = ' ';
	}
	return len;
}

/* `s` itself if it is valid UTF-8; else a copy with U+FFFD for each byte that is not, in *buf,
 * which has room for *cap bytes and grows (both 0 at first; the caller frees it). NULL: no memory.
 */
const char *utf8_repair(const char *s, char **buf, size_t *cap);

#endif
