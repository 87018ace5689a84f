// SPDX-License-Identifier: GPL-2.0-or-later
#include "top/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"

static int grow(struct history *h, size_t cnt)
{
	void *shares = reallocarray(h->shares, cnt, sizeof(*h->shares));
	void *cpu_ns;

	if (!shares)
		return -ENOMEM;
	h->shares = shares;
	cpu_ns = reallocarray(h->cpu_ns, cnt, sizeof(*h->cpu_ns));
	if (!cpu_ns)
		return -ENOMEM;
	h->cpu_ns = cpu_ns;
	memset(&h->shares[h->functions_cnt], 0, (cnt - h->functions_cnt) * sizeof(*h->shares));
	memset(&h->cpu_ns[h->functions_cnt], 0, (cnt - h->functions_cnt) * sizeof(*h->cpu_ns));
	h->functions_cnt = cnt;
	return 0;
}

int history__add(struct history *h, const struct profile *now)
{
	uint64_t took = now->duration_ns > h->until_ns ? now->duration_ns - h->until_ns : 0;

	if (now->functions_cnt > h->functions_cnt && grow(h, now->functions_cnt))
		return -ENOMEM;
	for (size_t i = 0; i < now->functions_cnt; i++) {
		uint64_t ns = stats__cpu_self_ns(&now->functions[i].stats);
		/* Estimates may fall back a little. */
		uint64_t more = ns > h->cpu_ns[i] ? ns - h->cpu_ns[i] : 0;

		h->shares[i][h->next] = took ? (float)more / (float)took : 0;
		h->cpu_ns[i] = ns;
	}
	h->until_ns = now->duration_ns;
	h->next = (h->next + 1) % HISTORY_LEN;
	h->cnt += h->cnt < HISTORY_LEN;
	return 0;
}

void history__fini(struct history *h)
{
	free(h->shares);
	free(h->cpu_ns);
	*h = (struct history){0};
}

/* The interval `ago` before the newest one. */
static float share_at(const struct history *h, uint32_t function, size_t ago)
{
	if (ago >= h->cnt || function >= h->functions_cnt)
		return 0;
	return h->shares[function][(h->next + HISTORY_LEN - 1 - ago) % HISTORY_LEN];
}

char *history__spark(const struct history *h, uint32_t function, size_t columns, char *buf)
{
	static const char *const heights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	const size_t most = sizeof(heights) / sizeof(*heights) - 1;
	float means[HISTORY_LEN], max = 0;
	size_t each, len = 0;

	columns = columns < HISTORY_LEN ? columns : HISTORY_LEN;
	each = columns ? (HISTORY_LEN + columns - 1) / columns : 0;
	for (size_t i = 0; i < columns; i++) {
		float sum = 0;

		for (size_t k = 0; k < each; k++)
			sum += share_at(h, function, (columns - 1 - i) * each + k);
		means[i] = sum / (float)each;
		max = means[i] > max ? means[i] : max;
	}
	for (size_t i = 0; i < columns; i++) {
		/* Anything above 0 has a height, however little it is. */
		size_t height = max > 0 && means[i] > 0
					? 1 + (size_t)(means[i] / max * (float)(most - 1) + 0.5f)
					: 0;

		len += strlen(strcpy(buf + len, heights[height]));
	}
	buf[len] = '\0';
	return buf;
}
