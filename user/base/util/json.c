// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The only state a JSON writer needs is whether the next element follows another one. After a
 * closing bracket the answer is always yes, so no stack of levels is kept.
 */
#include "util/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

static void put(struct json *j, const char *s, size_t len)
{
	fwrite_unlocked(s, 1, len, j->out);
}

static void value(struct json *j)
{
	if (j->comma)
		putc_unlocked(',', j->out);
	j->comma = true;
}

void json_open(struct json *j, char bracket)
{
	value(j);
	putc_unlocked(bracket, j->out);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	putc_unlocked(bracket, j->out);
	j->comma = true;
}

/* Escapes what JSON demands, and the other control characters too: someone will cat the file on a
 * terminal. In a page, without '<' nothing can end or comment out the element around the text. */
static bool needs_escape(const struct json *j, uint32_t code)
{
	return code == '"' || code == '\\' || (j->in_page && code == '<') || utf8_is_control(code);
}

static void put_escaped(struct json *j, uint32_t code)
{
	static const char shorts[] = "\"\"\\\\\nn\tt\rr\bb\ff";
	const char *s;
	char buf[8];

	for (s = shorts; *s; s += 2) {
		if (code == (unsigned char)*s) {
			putc_unlocked('\\', j->out);
			putc_unlocked(s[1], j->out);
			return;
		}
	}
	put(j, buf, snprintf(buf, sizeof(buf), "\\u%04x", (unsigned int)code));
}

/* Most of all keys and names: what is plain wherever it stands. */
static bool is_plain(char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<';
}

static void put_quoted(struct json *j, const char *s)
{
	const char *plain;

	putc_unlocked('"', j->out);
	for (plain = s; *s;) {
		uint32_t code = 0;
		size_t len;

		if (is_plain(*s)) {
			s++;
			continue;
		}
		len = utf8_decode(s, &code);
		if (len && !needs_escape(j, code)) {
			s += len;
			continue;
		}
		put(j, plain, s - plain);
		if (len)
			put_escaped(j, code);
		else
			put(j, "\xef\xbf\xbd", 3); /* U+FFFD */
		s += len ? len : 1;
		plain = s;
	}
	put(j, plain, s - plain);
	putc_unlocked('"', j->out);
}

void json_key(struct json *j, const char *key)
{
	value(j);
	put_quoted(j, key);
	putc_unlocked(':', j->out);
	j->comma = false;
}

void json_string(struct json *j, const char *s)
{
	if (!s) {
		json_null(j);
		return;
	}
	value(j);
	put_quoted(j, s);
}

void json_u64(struct json *j, uint64_t v)
{
	char buf[20], *p = buf + sizeof(buf);

	/* A profile of a million paths has four million numbers: printf() would dominate. */
	do
		*--p = '0' + v % 10;
	while (v /= 10);
	value(j);
	put(j, p, buf + sizeof(buf) - p);
}

void json_i64(struct json *j, int64_t v)
{
	char buf[24];

	value(j);
	put(j, buf, snprintf(buf, sizeof(buf), "%" PRId64, v));
}

void json_double(struct json *j, double v)
{
	char buf[40], *p;

	if (!isfinite(v)) {
		json_null(j);
		return;
	}
	/* The shortest of the two that reads back as the same number. */
	snprintf(buf, sizeof(buf), "%.15g", v);
	if (strtod(buf, NULL) != v)
		snprintf(buf, sizeof(buf), "%.17g", v);
	/* Some locales write a decimal comma. */
	for (p = buf; *p; p++)
		if (!strchr("0123456789+-e", *p))
			*p = '.';
	value(j);
	put(j, buf, p - buf);
}

void json_decimal(struct json *j, uint64_t v, unsigned int decimals)
{
	char buf[48], *p = buf + sizeof(buf);
	unsigned int i;

	for (; decimals && v % 10 == 0; decimals--)
		v /= 10;
	for (i = 0; i < decimals; i++, v /= 10)
		*--p = '0' + v % 10;
	if (decimals)
		*--p = '.';
	do
		*--p = '0' + v % 10;
	while (v /= 10);
	value(j);
	put(j, p, buf + sizeof(buf) - p);
}

void json_bool(struct json *j, bool v)
{
	value(j);
	put(j, v ? "true" : "false", v ? 4 : 5);
}

void json_null(struct json *j)
{
	value(j);
	put(j, "null", 4);
}

void json_member_string(struct json *j, const char *key, const char *v)
{
	json_key(j, key);
	json_string(j, v);
}

void json_member_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

void json_member_i64(struct json *j, const char *key, int64_t v)
{
	json_key(j, key);
	json_i64(j, v);
}

void json_member_bool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}

void json_member_double(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v);
}

void json_member_decimal(struct json *j, const char *key, uint64_t v, unsigned int decimals)
{
	json_key(j, key);
	json_decimal(j, v, decimals);
}

void json_member_open(struct json *j, const char *key, char bracket)
{
	json_key(j, key);
	json_open(j, bracket);
}
