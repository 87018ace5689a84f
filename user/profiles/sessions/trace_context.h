/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ids of distributed traces, as the W3C's Trace Context has them in text. */
#ifndef PROFTRACE_SESSIONS_TRACE_CONTEXT_H
#define PROFTRACE_SESSIONS_TRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_ID_SIZE 16
#define SPAN_ID_SIZE  8

struct trace_context {
	uint8_t trace[TRACE_ID_SIZE];
	uint8_t parent[SPAN_ID_SIZE]; /* the span that has called; all zero: not known */
	uint8_t flags;		      /* of a traceparent */
};

/*
 * Understands a traceparent, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", or a trace
 * id alone, its 32 hexadecimal digits, in upper or lower case. False: the text is neither, or the
 * trace id is all zero, which stands for none.
 */
bool trace_context__parse(struct trace_context *c, const char *text);

#endif
