// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of output formats. A sink gets the whole profile at once and writes it to a stream:
 * everything about a format is in its own file.
 */
#include "sink/sink.h"

#include <string.h>

static const struct sink *const sinks[] = {
	&sink_tree,
	&sink_flat,
	&sink_folded,
	&sink_json,
};

const struct sink *sink__at(size_t index)
{
	return index < sizeof(sinks) / sizeof(sinks[0]) ? sinks[index] : NULL;
}

const struct sink *sink__find(const char *name)
{
	const struct sink *s;
	size_t i;

	for (i = 0; (s = sink__at(i)); i++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}
