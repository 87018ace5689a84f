// SPDX-License-Identifier: GPL-2.0-or-later
#include "looks/turns.h"

#include "attach/life.h"
#include "attach/tracer.h"
#include "util/clock.h"

#define FORK_NS 50000 /* for each probe: how long those who fork wait while it comes and goes */
/* While the kernel puts probes in or takes them out other CPUs of the target wait for it: nginx
 * under wrk lost 43 ms by a burst for which 25 were counted, 16 of them for links. */
#define LINKING 2
/* Links are closed in the background, and so are those of functions that were dropped and of the
 * survey: 30 ms of CPU time, which were charged to the first window of redis, of 1 ms. So a look is
 * charged twice with what its links took to be made. */
#define BOTH_WAYS 2
#define FORKS	  5  /* children since tracing began: the target forks */
#define MANY	  20 /* the same: it does so again and again, not for a few connections that stay */

static uint32_t children_made(const struct tracer *tr)
{
	struct life_counts counts;

	life__counts(tracer__life(tr), &counts);
	return counts.followed + counts.forks;
}

void turns__start(struct turns_seen *seen, const struct tracer *tr)
{
	*seen = (struct turns_seen){children_made(tr)};
}

bool turns__forks(const struct turns_seen *seen, const struct tracer *tr)
{
	return children_made(tr) >= seen->children + MANY;
}

struct look look__begin(const struct tracer *tr, uint64_t ran_ns)
{
	return (struct look){
		.ran_ns = ran_ns,
		.at_ns = now_ns(),
		.thread_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID),
		.children = children_made(tr),
		.making_ns = tracer__making_ns(tr),
	};
}

void look__made(struct look *l, const struct tracer *tr)
{
	uint64_t making_ns = tracer__making_ns(tr);

	l->made_ns = now_ns() - l->at_ns;
	/* The link holder may have been killed meanwhile. */
	l->making_ns = making_ns > l->making_ns ? making_ns - l->making_ns : 0;
}

bool turns__due(struct turns *t, const struct turns_seen *seen, const struct tracer *tr,
		uint64_t ran_ns, uint64_t now_ns, double probes)
{
	if (!t->cnt && !t->next_ran_ns && children_made(tr) >= seen->children + FORKS)
		t->next_ran_ns = (uint64_t)(probes * FORK_NS / t->share);
	return ran_ns >= t->next_ran_ns && now_ns >= t->next_ns;
}

/* CPU time of our own. */
static double own_cost(const struct look *l)
{
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - l->thread_ns) +
	       LINKING * BOTH_WAYS * (double)l->making_ns;
}

/* The cost of waiting to those who have forked meanwhile, until links are made, and until they are
 * closed, which takes as long. */
static double forks_cost(const struct tracer *tr, const struct look *l)
{
	return children_made(tr) == l->children ? 0 : 2 * (double)l->made_ns * l->cpus;
}

double turns__usual_ns(const struct turns *t)
{
	return t->cnt ? t->cost_ns / (double)t->cnt / t->share : 0;
}

double turns__pause_ns(struct turns *t, const struct tracer *tr, const struct look *l)
{
	t->cost_ns += l->cost_ns + own_cost(l) + forks_cost(tr, l);
	t->cnt++;
	return turns__usual_ns(t);
}
