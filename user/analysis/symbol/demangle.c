// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For C++ and Rust libiberty's callback interface, because a name of a few bytes can be made to
 * expand without end: once enough has come out, the only way to stop it is to jump out of the
 * callback. Its C++ half holds no memory meanwhile; the Rust half may lose a small block of
 * punycode then.
 */
#include "symbol/demangle.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#define MAX_INPUT  4096
#define MAX_OUTPUT (64u << 10)

struct output {
	jmp_buf full;
	char *buf;
	size_t len, cap;
};

static void append(const char *piece, size_t len, void *opaque)
{
	struct output *out = opaque;
	char *grown;

	if (len > MAX_OUTPUT || out->len + len > MAX_OUTPUT)
		longjmp(out->full, 1);
	if (out->len + len + 1 > out->cap) {
		out->cap = (out->len + len + 1) * 2;
		grown = realloc(out->buf, out->cap);
		if (!grown)
			longjmp(out->full, 1);
		out->buf = grown;
	}
	memcpy(out->buf + out->len, piece, len);
	out->len += len;
	out->buf[out->len] = '\0';
}

typedef int (*demangler)(const char *, int, demangle_callbackref, void *);

/* `out` lives in the caller, so that it is still valid after the jump. */
static bool run_into(struct output *out, demangler demangler, int options, const char *symbol)
{
	if (setjmp(out->full))
		return false;
	return demangler(symbol, DMGL_PARAMS | DMGL_ANSI | options, append, out);
}

static char *run(demangler demangler, int options, const char *symbol)
{
	struct output out = {.len = 0};

	if (run_into(&out, demangler, options, symbol))
		return out.buf;
	free(out.buf);
	return NULL;
}

/*
 * A symbol of OCaml is "caml", a module's name, and after each "__" a module inside or the function
 * itself. From OCaml 5.1 on a dot stands in place of "__". A character that assemblers do not take
 * is "$" and its code: "camlStdlib__$5e_140" is the operator ^ of Stdlib. The number stays, as it
 * tells functions of one name apart.
 */
#define OCAML_PREFIX "caml"

/* The value of a digit as the compiler writes it, in lower case, or -1. */
static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The character that "$5e" stands for, or 0 if `at` begins nothing that can be shown. */
static char escaped(const char *at)
{
	int high = hex_digit(at[1]), low = high < 0 ? -1 : hex_digit(at[2]);
	int c = low < 0 ? 0 : high * 16 + low;

	return isgraph(c) ? (char)c : 0;
}

/* Writes the name into `out`, which has room for `from`. False: not a function in a module. */
static bool decode_ocaml(const char *from, char *out)
{
	bool in_module = false;

	while (*from) {
		if (*from == '$') {
			*out = escaped(from);
			if (!*out++)
				return false;
			from += 3;
		} else if (from[0] == '_' && from[1] == '_' && from[2]) {
			*out++ = '.';
			from += 2;
			in_module = true;
		} else {
			in_module |= *from == '.';
			*out++ = *from++;
		}
	}
	*out = '\0';
	return in_module;
}

static char *ocaml_name(const char *symbol)
{
	const char *module;
	char *name;

	if (strncmp(symbol, OCAML_PREFIX, strlen(OCAML_PREFIX)))
		return NULL;
	module = symbol + strlen(OCAML_PREFIX);
	if (*module < 'A' || *module > 'Z' || strnlen(symbol, MAX_INPUT + 1) > MAX_INPUT)
		return NULL;
	name = malloc(strlen(module) + 1);
	if (name && !decode_ocaml(module, name)) {
		free(name);
		name = NULL;
	}
	return name;
}

char *demangle(const char *symbol)
{
	char *name = NULL;

	if (symbol[0] == 'c')
		return ocaml_name(symbol);
	/* Only what the compilers emit: libiberty's "_GLOBAL_" form makes prose of a name. */
	if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R') ||
	    strnlen(symbol, MAX_INPUT + 1) > MAX_INPUT)
		return NULL;
	/* Rust's older names are C++ names with a hash, so Rust goes first. */
	name = run(rust_demangle_callback, 0, symbol);
	/* libiberty's limit refuses C++ names over 1 KiB; ours bounds the recursion as well. */
	if (!name && symbol[1] == 'Z')
		name = run(cplus_demangle_v3_callback, DMGL_NO_RECURSE_LIMIT, symbol);
	return name;
}
