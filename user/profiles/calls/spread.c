// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"

static int grow(struct spread *s, uint32_t first, uint32_t cnt)
{
	uint64_t *calls = calloc(cnt, sizeof(*calls));

	if (!calls)
		return -ENOMEM;
	if (s->cnt)
		memcpy(calls + (s->first - first), s->calls, s->cnt * sizeof(*calls));
	free(s->calls);
	*s = (struct spread){calls, first, cnt};
	return 0;
}

void spread__free(struct spread *spreads, size_t cnt)
{
	for (size_t i = 0; spreads && i < cnt; i++)
		free(spreads[i].calls);
	free(spreads);
}

int spread__add(struct spread *s, uint32_t bucket, uint64_t calls)
{
	int err = 0;

	if (!s->cnt)
		err = grow(s, bucket, 1);
	else if (bucket < s->first)
		err = grow(s, bucket, s->first + s->cnt - bucket);
	else if (bucket - s->first >= s->cnt)
		err = grow(s, s->first, bucket - s->first + 1);
	if (!err)
		s->calls[bucket - s->first] += calls;
	return err;
}

int spread__to_buckets(const struct spread *by_function, size_t cnt,
		       struct profile_bucket **buckets, size_t *buckets_cnt)
{
	struct profile_bucket *to;
	size_t used = 0;

	for (size_t i = 0; i < cnt; i++)
		used += by_function[i].cnt;
	to = calloc(used + 1, sizeof(*to));
	if (!to)
		return -ENOMEM;
	used = 0;
	for (size_t i = 0; i < cnt; i++) {
		const struct spread *s = &by_function[i];

		for (uint32_t b = 0; b < s->cnt; b++) {
			if (s->calls[b])
				to[used++] = (struct profile_bucket){i, s->first + b, s->calls[b]};
		}
	}
	free(*buckets);
	*buckets = to;
	*buckets_cnt = used;
	return 0;
}
