// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/why/session_ranks.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/session_data.h"

int session_ranks__init(struct session_ranks *r, const struct sessions *s)
{
	*r = (struct session_ranks){
		.s = s,
		.roots = calloc(s->paths_cnt + 1, sizeof(*r->roots)),
		.self_ns = calloc(s->paths_cnt + 1, sizeof(*r->self_ns)),
		.off_ns = calloc(s->paths_cnt + 1, sizeof(*r->off_ns)),
	};
	if (!r->roots || !r->self_ns || !r->off_ns)
		return -ENOMEM;
	for (uint32_t i = 1; i < s->paths_cnt; i++) {
		uint32_t parent = s->paths[i].parent;

		r->roots[i] = parent ? r->roots[parent] : i;
	}
	return 0;
}

void session_ranks__fini(struct session_ranks *r)
{
	free(r->roots);
	free(r->self_ns);
	free(r->off_ns);
}

static double mean(uint64_t sum, uint64_t cnt)
{
	return cnt ? (double)sum / (double)cnt : 0;
}

/* A file may claim that calls took centuries. */
static int64_t whole_ns_of(double ns)
{
	return (int64_t)(ns < -9e18 ? -9e18 : ns > 9e18 ? 9e18 : ns);
}

int64_t session_group__more_ns(const struct session_group *g)
{
	return whole_ns_of(mean(g->slow_total_ns, g->slow_cnt) -
			   mean(g->usual_total_ns, g->usual_cnt));
}

/* The queues, which are no path, come first. */
static int compare_reasons(const void *a, const void *b)
{
	const struct session_reason *x = a, *y = b;

	if (!x->path != !y->path)
		return x->path ? 1 : -1;
	if (x->more_ns != y->more_ns)
		return x->more_ns > y->more_ns ? -1 : 1;
	return x->path < y->path ? -1 : x->path > y->path;
}

static struct session_reason queues_of(const struct session_group *g)
{
	double slow_ns = mean(g->slow_queue_ns, g->slow_cnt);
	double usual_ns = mean(g->usual_queue_ns, g->usual_cnt);
	int64_t more_ns = whole_ns_of(slow_ns - usual_ns);

	return (struct session_reason){0, whole_ns_of(slow_ns), whole_ns_of(usual_ns), more_ns,
				       more_ns};
}

static struct session_reason reason_of(const struct session_ranks *r, const struct session_group *g,
				       uint32_t path)
{
	const struct session_path *p = &r->s->paths[path];
	double slow_ns = mean(p->slow_ns, g->slow_cnt), usual_ns = mean(p->usual_ns, g->usual_cnt);

	double off_ns = mean(p->slow_off_ns, g->slow_cnt) - mean(p->usual_off_ns, g->usual_cnt);

	return (struct session_reason){path, whole_ns_of(slow_ns), whole_ns_of(usual_ns),
				       whole_ns_of(slow_ns - usual_ns), whole_ns_of(off_ns)};
}

int session_ranks__reasons(const struct session_ranks *r, const struct session_group *g,
			   struct session_reason **out, size_t *cnt)
{
	struct session_reason *reasons = calloc(r->s->paths_cnt + 1, sizeof(*reasons));

	*out = reasons;
	*cnt = 0;
	if (!reasons)
		return -ENOMEM;
	if (session_group__more_ns(g) < 1)
		return 0;
	reasons[0] = queues_of(g);
	*cnt = reasons[0].more_ns >= 1;
	for (uint32_t i = 1; i < r->s->paths_cnt; i++) {
		if (r->roots[i] != g->path)
			continue;
		reasons[*cnt] = reason_of(r, g, i);
		*cnt += reasons[*cnt].more_ns >= 1;
	}
	qsort(reasons, *cnt, sizeof(*reasons), compare_reasons);
	return 0;
}

static int compare_costs(const void *a, const void *b)
{
	const struct session_cost *x = a, *y = b;

	if (x->self_ns != y->self_ns)
		return x->self_ns > y->self_ns ? -1 : 1;
	return x->path < y->path ? -1 : x->path > y->path;
}

int session_ranks__dearest(struct session_ranks *r, const struct session *session,
			   struct session_cost **out, size_t *cnt)
{
	struct session_cost *costs = calloc(session->calls_cnt + 1, sizeof(*costs));

	*out = costs;
	*cnt = 0;
	if (!costs)
		return -ENOMEM;
	for (size_t i = 0; i < session->calls_cnt; i++) {
		const struct session_call *c = &session->calls[i];

		r->self_ns[c->path] += session_call__self_ns(c);
		r->off_ns[c->path] += session_call__off_self_ns(c);
	}
	for (size_t i = 0; i < session->calls_cnt; i++) {
		uint32_t path = session->calls[i].path;

		if (r->self_ns[path])
			costs[(*cnt)++] =
				(struct session_cost){path, r->self_ns[path], r->off_ns[path]};
		r->self_ns[path] = 0;
		r->off_ns[path] = 0;
	}
	qsort(costs, *cnt, sizeof(*costs), compare_costs);
	return 0;
}
