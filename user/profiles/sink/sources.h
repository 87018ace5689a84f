/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source files that a report shows lines of: the last few are kept. */
#ifndef PROFTRACE_SINK_SOURCES_H
#define PROFTRACE_SINK_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

struct source_text;

#define SOURCES_KEPT 4

struct sources {
	bool by_root; /* as in source_text__open(), of all of them */
	struct {
		const char *path; /* borrowed */
		struct source_text *text;
		int err;
	} items[SOURCES_KEPT];
	size_t next;
};

/* The text of the file, up to the next calls, or NULL: then *why says why, in a few words. */
const struct source_text *sources__get(struct sources *s, const char *path, const char **why);
void sources__clear(struct sources *s);

#endif
