// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/call_errors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "util/array.h"

bool function__is_error(const struct profile_function *f)
{
	return !strcmp(f->module, "[kernel]") &&
	       (!strncmp(f->symbol, "[E", 2) || !strcmp(f->symbol, "[error]"));
}

static int compare(const void *a, const void *b)
{
	const struct call_error *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->error < y->error ? -1 : x->error > y->error;
}

int call_errors__new(const struct profile *p, struct call_error **out, size_t *cnt)
{
	struct call_error *errors = NULL;
	size_t n = 0, cap = 0, to = 0;

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		const struct profile_node *node = &p->nodes[i];

		if (!node->parent || !function__is_error(&p->functions[node->function]))
			continue;
		if (ARRAY_RESERVE(&errors, n, &cap)) {
			free(errors);
			return -ENOMEM;
		}
		errors[n++] = (struct call_error){p->nodes[node->parent].function, node->function,
						  node->stats.calls};
	}
	if (n)
		qsort(errors, n, sizeof(*errors), compare);
	for (size_t i = 0; i < n; i++) {
		if (to && !compare(&errors[to - 1], &errors[i]))
			errors[to - 1].calls += errors[i].calls;
		else
			errors[to++] = errors[i];
	}
	*out = errors;
	*cnt = to;
	return 0;
}
