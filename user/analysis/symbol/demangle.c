// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libiberty's callback interface, because a name of a few bytes can be made to expand without end:
 * once enough has come out, the only way to stop it is to jump out of the callback. Its C++ half
 * holds no memory meanwhile; the Rust half may lose a small block of punycode then.
 */
#include "symbol/demangle.h"

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

char *demangle(const char *symbol)
{
	char *name = NULL;

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
