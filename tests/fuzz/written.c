// SPDX-License-Identifier: GPL-2.0-or-later
#include "written.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording_file.h"

/* Bytes of the character at `text`, one of UTF-8's shortest forms and no surrogate; 0: none. */
static size_t character(const unsigned char *text, size_t len)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t bytes = *text < 0x80 ? 1 : *text >> 5 == 6 ? 2 : *text >> 4 == 14 ? 3 : 4;
	uint32_t c = *text & (0xff >> bytes);

	if (bytes == 1)
		return 1;
	if (bytes > len || (bytes == 4 && *text >> 3 != 30))
		return 0;
	for (size_t i = 1; i < bytes; i++) {
		if (text[i] >> 6 != 2)
			return 0;
		c = c << 6 | (text[i] & 0x3f);
	}
	return c < least[bytes] || c > 0x10ffff || c >> 11 == 0xd800 >> 11 ? 0 : bytes;
}

/* Tables of CSV end their lines by \r\n. */
static bool is_plain(const char *text, size_t len, bool csv)
{
	const unsigned char *t = (const unsigned char *)text;
	size_t bytes;

	for (size_t i = 0; i < len; i += bytes) {
		bytes = character(t + i, len - i);
		if (csv && t[i] == '\r' && i + 1 < len && t[i + 1] == '\n')
			continue;
		if (!bytes || (t[i] < ' ' && t[i] != '\n' && t[i] != '\t') || t[i] == 0x7f)
			return false;
		if (t[i] == 0xc2 && t[i + 1] < 0xa0)
			return false;
	}
	return true;
}

bool written__is_plain(const char *text, size_t len)
{
	return is_plain(text, len, false);
}

/* JSON as RFC 8259 has it. */
struct scanner {
	const char *at, *end;
	char *open; /* brackets, the innermost last */
	size_t depth;
};

static bool is_at(const struct scanner *s, char c)
{
	return s->at < s->end && *s->at == c;
}

static bool scan_string(struct scanner *s)
{
	for (s->at++; s->at < s->end && *s->at != '"'; s->at++) {
		if ((unsigned char)*s->at < ' ')
			return false;
		if (*s->at != '\\')
			continue;
		s->at++;
		if (s->at == s->end || !strchr("\"\\/bfnrtu", *s->at) || !*s->at)
			return false;
		for (int i = 0; *s->at == 'u' && i < 4; i++) {
			if (s->end - s->at <= i + 1 || !isxdigit((unsigned char)s->at[i + 1]))
				return false;
		}
	}
	return s->at++ < s->end;
}

static size_t digits(struct scanner *s)
{
	const char *from = s->at;

	while (s->at < s->end && isdigit((unsigned char)*s->at))
		s->at++;
	return s->at - from;
}

static bool scan_number(struct scanner *s)
{
	const char *from;

	s->at += *s->at == '-';
	from = s->at;
	if (!digits(s) || (*from == '0' && s->at > from + 1))
		return false;
	if (is_at(s, '.')) {
		s->at++;
		if (!digits(s))
			return false;
	}
	if (!is_at(s, 'e') && !is_at(s, 'E'))
		return true;
	s->at++;
	s->at += is_at(s, '+') || is_at(s, '-');
	return digits(s);
}

static bool scan_word(struct scanner *s)
{
	static const char *const words[] = {"true", "false", "null"};

	for (size_t i = 0; i < 3; i++) {
		size_t len = strlen(words[i]);

		if ((size_t)(s->end - s->at) >= len && !memcmp(s->at, words[i], len)) {
			s->at += len;
			return true;
		}
	}
	return false;
}

static void blanks(struct scanner *s)
{
	while (s->at < s->end && strchr(" \t\n\r", *s->at) && *s->at)
		s->at++;
}

/* Whether the innermost bracket ends here; then it is closed. */
static bool close_bracket(struct scanner *s)
{
	if (!is_at(s, s->open[s->depth - 1] == '[' ? ']' : '}'))
		return false;
	s->depth--;
	s->at++;
	return true;
}

/* Reads the name of a member, and the colon behind it. */
static bool scan_name(struct scanner *s)
{
	if (!is_at(s, '"') || !scan_string(s))
		return false;
	blanks(s);
	if (!is_at(s, ':'))
		return false;
	s->at++;
	blanks(s);
	return true;
}

/* Reads a value to its end, or up to the end of the first value within it that has no others. */
static bool scan_value(struct scanner *s)
{
	for (;;) {
		blanks(s);
		if (s->depth && s->open[s->depth - 1] == '{' && !scan_name(s))
			return false;
		if (s->at == s->end)
			return false;
		if (*s->at == '"')
			return scan_string(s);
		if (*s->at != '[' && *s->at != '{')
			return isalpha((unsigned char)*s->at) ? scan_word(s) : scan_number(s);
		s->open[s->depth++] = *s->at++;
		blanks(s);
		if (close_bracket(s))
			return true;
	}
}

/* One document a line, or one that takes several. */
static bool is_json(const char *text, size_t len)
{
	struct scanner s = {text, text + len, malloc(len + 1), 0};
	bool good = s.open;

	for (blanks(&s); good && s.at < s.end; blanks(&s)) {
		good = scan_value(&s);
		while (good && s.depth) {
			blanks(&s);
			if (close_bracket(&s))
				continue;
			good = is_at(&s, ',');
			if (good) {
				s.at++;
				good = scan_value(&s);
			}
		}
	}
	free(s.open);
	return good;
}

static bool one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(*words, word))
		words++;
	return *words;
}

void written__check(const char *format, const char *text, size_t len)
{
	static const char *const binary[] = {"pprof", "perfetto", NULL};
	static const char *const json[] = {"json", "speedscope", "chrome", "firefox", NULL};

	if (one_of(format, binary))
		return;
	if (!is_plain(text, len, !strcmp(format, "csv")) ||
	    (one_of(format, json) && !is_json(text, len))) {
		fprintf(stderr, "fuzz: bad %s: %.*s\n", format, (int)len, text);
		check(false);
	}
}
