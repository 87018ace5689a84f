// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/overlaps.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "util/search.h"

/* The first two members of each range, whatever follows them. */
struct bounds {
	uint64_t start, end;
};

static struct bounds bounds_of(const char *range)
{
	struct bounds b;

	memcpy(&b, range, sizeof(b));
	return b;
}

size_t overlaps__drop(void *ranges, size_t cnt, size_t size)
{
	char *at = ranges, *to = ranges;
	uint64_t end = 0; /* the last one of all ranges before */

	sort_again(ranges, cnt, size, u64_order);
	for (size_t i = 0; i < cnt; i++, at += size) {
		struct bounds b = bounds_of(at);
		bool overlaps =
			b.start < end || (i + 1 < cnt && bounds_of(at + size).start < b.end);

		end = b.end > end ? b.end : end;
		if (overlaps)
			continue;
		memmove(to, at, size);
		to += size;
	}
	return (size_t)(to - (char *)ranges) / size;
}
