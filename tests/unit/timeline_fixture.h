/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timelines by hand, and what is seen of them. */
#ifndef PROFTRACE_TESTS_TIMELINE_FIXTURE_H
#define PROFTRACE_TESTS_TIMELINE_FIXTURE_H

#include <inttypes.h>

#include "fixture.h"
#include "timeline_array.h"

/* A thread's calls, "NODE:ENTER-LEAVE/OFF " each, and the error that they end with, if there is
 * one. Good until the next call. */
static inline const char *timeline_text(struct timeline *t, uint32_t thread)
{
	static char *text;
	struct timeline_call c;
	size_t size;
	FILE *out;
	int more;

	free(text);
	out = open_memstream(&text, &size);
	assert_non_null(out);
	assert_int_equal(t->rewind(t, thread), 0);
	while ((more = t->next(t, thread, &c)) > 0)
		fprintf(out, "%" PRIu32 ":%" PRIu64 "-%" PRIu64 "/%" PRIu64 " ", c.node, c.enter_ns,
			c.leave_ns, c.off_ns);
	if (more)
		fprintf(out, "error %d", more);
	fclose(out);
	return text;
}

#endif
