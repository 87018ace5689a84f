// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "sink/listing.h"

static const char *path_of(const struct profile_function *f)
{
	return f->module ? f->module : "";
}

static int compare_paths(const void *a, const void *b, void *ctx)
{
	const struct profile_function *functions = ctx;

	return strcmp(path_of(&functions[*(const uint32_t *)a]),
		      path_of(&functions[*(const uint32_t *)b]));
}

static void add(struct modules *m, const struct profile_function *f, uint32_t function)
{
	const char *path = path_of(f);
	struct module *last;

	if (!m->cnt || strcmp(m->list[m->cnt - 1].path, path))
		m->list[m->cnt++] = (struct module){.path = path};
	last = &m->list[m->cnt - 1];
	if (f->offset >= last->end)
		last->end = f->offset + 1;
	m->of[function] = m->cnt - 1;
}

int modules__init(struct modules *m, const struct profile *p, const struct listing *functions)
{
	uint32_t *order = calloc(p->functions_cnt + 1, sizeof(*order));
	size_t cnt = 0, i;

	*m = (struct modules){
		.list = calloc(p->functions_cnt + 1, sizeof(*m->list)),
		.of = calloc(p->functions_cnt + 1, sizeof(*m->of)),
	};
	if (!order || !m->list || !m->of) {
		free(order);
		return -ENOMEM;
	}
	for (i = 0; i < p->functions_cnt; i++)
		if (functions[i].listed)
			order[cnt++] = i;
	qsort_r(order, cnt, sizeof(*order), compare_paths, p->functions);
	for (i = 0; i < cnt; i++)
		add(m, &p->functions[order[i]], order[i]);
	free(order);
	return 0;
}

void modules__clear(struct modules *m)
{
	free(m->list);
	free(m->of);
	*m = (struct modules){0};
}
