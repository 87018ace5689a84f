// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"

/* *array, of `cnt` elements of `size` bytes, becomes a copy of itself, NULL if it has none. */
static int copy(void *array, size_t cnt, size_t size)
{
	void **at = array, *from = *at;

	*at = NULL;
	if (!cnt)
		return 0;
	*at = reallocarray(NULL, cnt, size);
	if (!*at)
		return -ENOMEM;
	memcpy(*at, from, cnt * size);
	return 0;
}

#define COPY(p, array) copy(&(p)->array, (p)->array##_cnt, sizeof(*(p)->array))

int profile__copy_all_but_paths(const struct profile *p, struct profile **out)
{
	struct profile *to = malloc(sizeof(*to));
	int err = 0;

	*out = to;
	if (!to)
		return -ENOMEM;
	*to = *p;
	to->threads = NULL;
	to->threads_cnt = 0;
	to->nodes = NULL;
	to->nodes_cnt = 0;
	to->timeline = NULL;
	to->waits = NULL;
	to->sessions = NULL;
	/* All of them, whatever fails: none may remain the other profile's. */
	err |= COPY(to, functions);
	err |= COPY(to, buckets);
	err |= COPY(to, drops);
	err |= COPY(to, cpu_shares);
	err |= COPY(to, estimates);
	err |= COPY(to, lines);
	err |= COPY(to, inlines);
	err |= COPY(to, arguments);
	return err;
}

int profile__copy(const struct profile *p, struct profile **out)
{
	int err = profile__copy_all_but_paths(p, out);
	struct profile *to = *out;

	if (err)
		return err;
	to->threads = p->threads;
	to->threads_cnt = p->threads_cnt;
	to->nodes = p->nodes;
	to->nodes_cnt = p->nodes_cnt;
	err |= COPY(to, threads);
	err |= COPY(to, nodes);
	return err;
}
