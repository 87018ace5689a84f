/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The value of --session-id or --trace-id: where the application's own id of a session lies. */
#ifndef PROFTRACE_CLI_SESSION_ID_H
#define PROFTRACE_CLI_SESSION_ID_H

#include <stdbool.h>
#include <stddef.h>

/* Names of values as -A has them; owned. `rest`: the second half of a trace id's 16 bytes; NULL:
 * `value` is all of the id. Both NULL: not given. `is_context`: the id is the trace of
 * OpenTelemetry's thread context, and `value` the variable's name. */
struct session_id_option {
	char *value, *rest;
	bool is_context;
};

/* VALUE as in -A, "arg2", "req->id", "arg1:s"; or "otel", OpenTelemetry's thread context. Returns
 * false if it is none, or without memory. */
bool session_id__parse(struct session_id_option *id, const char *text);

/* "arg1+16": where the 16 bytes of a trace id lie; "arg1": at that pointer. Returns likewise. */
bool session_id__parse_bytes(struct session_id_option *id, const char *text);
void session_id__clear(struct session_id_option *id);

/* Adds the id's values of a function to those that are to be read, as link_option__want(). */
bool session_id__want(const struct session_id_option *id, const char *glob, char ***arguments,
		      size_t *cnt);

#endif
