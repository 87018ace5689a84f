/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread context that programs with OpenTelemetry's SDK may publish (OTEP 4947): which trace
 * and span a thread works on. A thread-local variable of the name below points to a record, packed:
 *
 *	 0  trace id, 16 bytes in the order of the W3C's text
 *	16  span id, 8 bytes likewise
 *	24  valid, 1 byte: 1, or else the record is to be ignored
 *	25  trace flags, 1 byte
 *	26  size of the attributes behind it, 2 bytes
 *
 * No context: the pointer is NULL, or the record is not valid, or the trace id is all zero.
 */
#ifndef PROFTRACE_UTIL_OTEL_CONTEXT_H
#define PROFTRACE_UTIL_OTEL_CONTEXT_H

#define OTEL_CONTEXT "otel_thread_ctx_v1"

/* Names of the values that are read of the record, as -A has them. A trace id is two of them:
 * "4bf92f3577b34da6" and "a3ce929d0e0e4736" of 4bf92f3577b34da6a3ce929d0e0e4736. */
#define OTEL_CONTEXT_TRACE	OTEL_CONTEXT "->trace_id"
#define OTEL_CONTEXT_TRACE_REST OTEL_CONTEXT "->trace_id_rest"
#define OTEL_CONTEXT_SPAN	OTEL_CONTEXT "->span_id"
#define OTEL_CONTEXT_VALID	OTEL_CONTEXT "->valid"

/* The values that the variable's name alone stands for, each with its format. */
#define OTEL_CONTEXT_VALUES                                                                    \
	{                                                                                      \
		OTEL_CONTEXT_TRACE ":x", OTEL_CONTEXT_TRACE_REST ":x", OTEL_CONTEXT_SPAN ":x", \
			OTEL_CONTEXT_VALID ":u8",                                              \
	}
#define OTEL_CONTEXT_VALUES_CNT 4

#endif
