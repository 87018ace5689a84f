/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of OpenTelemetry's thread context (util/otel_context.h) among those that are wanted. */
#ifndef PROFTRACE_SELECT_THREAD_CONTEXT_H
#define PROFTRACE_SELECT_THREAD_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

struct argument;
struct arguments;
struct thread_variable;

/* Has the functions that match these globs read a thread context where one is published, besides
 * their other values; of a list that has no room for it they do not. Not finding one is no failure.
 * Globs are borrowed. Returns 0, or -errno with one line logged. */
int thread_context__want(struct arguments *a, char *const *globs, size_t cnt);

/* No thread context is published by anybody: takes back what thread_context__want() has added. */
void thread_context__forget(struct arguments *a);

/* Whether thread_context__want() has added to any list. */
bool thread_context__is_wanted(const struct arguments *a);

/* Whether the value is one of a thread context: "otel_thread_ctx_v1->span_id". */
bool thread_context__has(const struct argument *arg);

/* Gives such a value the place that it has behind the variable: a pointer at a distance from the
 * thread pointer. Returns NULL, or why it cannot be read. */
const char *thread_context__apply(struct argument *arg, const struct thread_variable *v);

#endif
