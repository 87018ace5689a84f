// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/usdt_argument.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SPEC 128 /* bytes of one operand */

#define BAD_OPERAND "it lies in a way that is not known"

/* Copies word `number`, from 1 on. Returns its length; 0: it is not there, or too long. */
static size_t copy_word(const char *text, size_t number, char word[MAX_SPEC])
{
	size_t len;

	for (;; text += len) {
		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (!len || !--number)
			break;
	}
	if (len >= MAX_SPEC)
		len = 0;
	memcpy(word, text, len);
	word[len] = '\0';
	return len;
}

/* The register of `len` bytes of text behind its %; `bytes` and `shift`: the part of it. */
static bool find_register(const char *name, size_t len, struct usdt_argument *part, uint8_t *number)
{
	static const struct {
		const char *name;
		uint8_t number, bytes, shift;
	} low[] = {
		{"al", 0, 1, 0},  {"cl", 1, 1, 0},  {"dl", 2, 1, 0},  {"bl", 3, 1, 0},
		{"ah", 0, 1, 8},  {"ch", 1, 1, 8},  {"dh", 2, 1, 8},  {"bh", 3, 1, 8},
		{"spl", 4, 1, 0}, {"bpl", 5, 1, 0}, {"sil", 6, 1, 0}, {"dil", 7, 1, 0},
	};
	static const char *const pairs[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
	char *end;

	part->shift = 0;
	for (size_t i = 0; i < sizeof(low) / sizeof(*low); i++) {
		if (strlen(low[i].name) == len && !strncmp(low[i].name, name, len)) {
			*number = low[i].number;
			part->bytes = low[i].bytes;
			part->shift = low[i].shift;
			return true;
		}
	}
	if (len > 1 && name[0] == 'r' && isdigit((unsigned char)name[1])) {
		unsigned long r = strtoul(name + 1, &end, 10);
		size_t left = name + len - end;

		part->bytes = !left ? 8 : *end == 'd' ? 4 : *end == 'w' ? 2 : *end == 'b' ? 1 : 0;
		*number = r;
		return r >= 8 && r < 16 && left <= 1 && part->bytes;
	}
	part->bytes = len == 2			 ? 2
		      : len == 3 && *name == 'e' ? 4
		      : len == 3 && *name == 'r' ? 8
						 : 0;
	for (size_t i = 0; part->bytes && i < 8; i++) {
		if (!strncmp(name + len - 2, pairs[i], 2)) {
			*number = i;
			return true;
		}
	}
	return false;
}

/* A number at *at, moved behind it. */
static bool take_number(const char **at, int64_t *value)
{
	bool negative = **at == '-';
	const char *digits = *at + (negative || **at == '+');
	unsigned long long magnitude;
	char *end;

	if (!isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	magnitude = strtoull(digits, &end, 0);
	if (errno)
		return false;
	*value = negative ? 0 - magnitude : magnitude;
	*at = end;
	return true;
}

/* "%rax" as part of an address. */
static bool take_address_register(const char **at, uint8_t *number)
{
	struct usdt_argument part;
	size_t len;

	if (**at != '%')
		return false;
	len = strcspn(*at, ",)");
	if (!find_register(*at + 1, len - 1, &part, number) || part.bytes != 8)
		return false;
	*at += len;
	return true;
}

/* "-16(%rbp)", "(%rax,%rbx,8)", "8(,%rcx,4)" */
static const char *parse_memory(const char *at, struct usdt_argument *out)
{
	int64_t scale = 1;

	out->place = USDT_MEMORY;
	out->base = out->index = USDT_NO_REGISTER;
	if (*at != '(' && !take_number(&at, &out->offset))
		return strstr(at, "(%rip)") ? "it is a variable by name; its address is not known"
					    : BAD_OPERAND;
	if (*at == '+' || *at == '-')
		return "it is a variable by name; its address is not known";
	if (*at++ != '(')
		return BAD_OPERAND;
	if (*at == '%' && !take_address_register(&at, &out->base))
		return BAD_OPERAND;
	if (*at == ',') {
		at++;
		if (!take_address_register(&at, &out->index))
			return BAD_OPERAND;
		if (*at == ',' && (at++, !take_number(&at, &scale)))
			return BAD_OPERAND;
	}
	out->shift = scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
	if (1 << out->shift != scale || strcmp(at, ")") ||
	    (out->base == USDT_NO_REGISTER && out->index == USDT_NO_REGISTER))
		return BAD_OPERAND;
	return NULL;
}

static const char *parse_register(const char *name, struct usdt_argument *out)
{
	struct usdt_argument part;

	if (!find_register(name, strlen(name), &part, &out->base))
		return strstr(name, "mm") || !strncmp(name, "st", 2)
			       ? "it is in a floating-point register, which the kernel does not "
				 "show to probes"
			       : BAD_OPERAND;
	out->place = USDT_REGISTER;
	out->index = USDT_NO_REGISTER;
	out->shift = part.shift;
	/* The upper bits of a value in a smaller register are not known. */
	if (part.bytes < out->bytes)
		out->bytes = part.bytes;
	return NULL;
}

const char *usdt_argument__parse(const char *text, size_t number, struct usdt_argument *out)
{
	char word[MAX_SPEC];
	const char *at = word;
	int64_t bytes = 8;

	*out = (struct usdt_argument){0};
	if (!number || !copy_word(text, number, word))
		return "the probe has fewer values";
	if (strchr(word, '@')) {
		if (!take_number(&at, &bytes))
			return BAD_OPERAND;
		if (*at == 'f')
			return "it is a floating-point number, which is not read";
		if (*at++ != '@')
			return BAD_OPERAND;
	}
	out->is_signed = bytes < 0;
	bytes = bytes < 0 ? -bytes : bytes;
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return BAD_OPERAND;
	out->bytes = bytes;
	if (*at == '%')
		return parse_register(at + 1, out);
	if (*at != '$')
		return parse_memory(at, out);
	at++;
	out->place = USDT_CONSTANT;
	out->base = out->index = USDT_NO_REGISTER;
	return take_number(&at, &out->offset) && !*at ? NULL : BAD_OPERAND;
}
