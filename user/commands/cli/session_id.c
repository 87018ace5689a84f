// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/session_id.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/link.h"
#include "util/otel_context.h"

bool session_id__parse(struct session_id_option *id, const char *text)
{
	session_id__clear(id);
	if (!*text || text[strcspn(text, ",() \t")])
		return false;
	id->is_context = !strcmp(text, "otel") || !strcmp(text, OTEL_CONTEXT);
	id->value = strdup(id->is_context ? OTEL_CONTEXT : text);
	return id->value;
}

bool session_id__parse_bytes(struct session_id_option *id, const char *text)
{
	unsigned int number, offset = 0;
	int len = 0;

	session_id__clear(id);
	if (sscanf(text, "arg%2u%n", &number, &len) != 1 || !number)
		return false;
	text += len;
	len = 0;
	if (*text && (sscanf(text, "+%6u%n", &offset, &len) != 1 || text[len]))
		return false;
	if (asprintf(&id->value, "arg%u+%u:x", number, offset) < 0)
		id->value = NULL;
	if (asprintf(&id->rest, "arg%u+%u:x", number, offset + 8) < 0)
		id->rest = NULL;
	return id->value && id->rest;
}

void session_id__clear(struct session_id_option *id)
{
	free(id->value);
	free(id->rest);
	*id = (struct session_id_option){0};
}

bool session_id__want(const struct session_id_option *id, const char *glob, char ***arguments,
		      size_t *cnt)
{
	return (!id->value || link__want_value(glob, id->value, arguments, cnt)) &&
	       (!id->rest || link__want_value(glob, id->rest, arguments, cnt));
}
