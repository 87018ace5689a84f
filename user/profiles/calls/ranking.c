// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/ranking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"

static int compare_functions(const void *a, const void *b, void *by)
{
	const struct profile_function *x = *(const struct profile_function *const *)a;
	const struct profile_function *y = *(const struct profile_function *const *)b;
	const enum weight *weight = by;
	uint64_t x_weight = weigh(&x->stats, *weight), y_weight = weigh(&y->stats, *weight);
	int order;

	if (x_weight != y_weight)
		return x_weight > y_weight ? -1 : 1;
	if (x->stats.self_ns != y->stats.self_ns)
		return x->stats.self_ns > y->stats.self_ns ? -1 : 1;
	if (x->stats.total_ns != y->stats.total_ns)
		return x->stats.total_ns > y->stats.total_ns ? -1 : 1;
	if (x->stats.calls != y->stats.calls)
		return x->stats.calls > y->stats.calls ? -1 : 1;
	order = strcmp(x->name ? x->name : "", y->name ? y->name : "");
	return order ? order : x < y ? -1 : 1;
}

int profile__rank(const struct profile *p, enum weight weight, const struct profile_function ***out,
		  size_t *cnt)
{
	const struct profile_function **list = calloc(p->functions_cnt + 1, sizeof(*list));

	*out = list;
	*cnt = 0;
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct profile_function *f = &p->functions[i];

		if (!f->hidden && (f->stats.calls || f->stats.total_ns))
			list[(*cnt)++] = f;
	}
	qsort_r(list, *cnt, sizeof(*list), compare_functions, &weight);
	return 0;
}
