/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A time line from an array of calls. */
#ifndef PROFTRACE_TESTS_TIMELINE_ARRAY_H
#define PROFTRACE_TESTS_TIMELINE_ARRAY_H

#include "timeline/timeline.h"

/* Sorted as next() has to be. */
struct timeline_array {
	struct timeline base;
	const struct timeline_call *calls;
	const uint32_t *threads; /* by call */
	size_t cnt, at;
};

static inline int array_next(struct timeline *t, uint32_t thread, struct timeline_call *call)
{
	struct timeline_array *a = (struct timeline_array *)t;

	while (a->at < a->cnt && a->threads[a->at] != thread)
		a->at++;
	if (a->at == a->cnt)
		return 0;
	*call = a->calls[a->at++];
	return 1;
}

static inline int array_rewind(struct timeline *t, uint32_t thread)
{
	((struct timeline_array *)t)->at = 0;
	return 0;
}

static inline void timeline_array__init(struct timeline_array *a, const struct timeline_call *calls,
					const uint32_t *threads, size_t cnt)
{
	*a = (struct timeline_array){
		.base = {.next = array_next, .rewind = array_rewind},
		.calls = calls,
		.threads = threads,
		.cnt = cnt,
	};
}

#endif
