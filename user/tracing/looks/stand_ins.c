// SPDX-License-Identifier: GPL-2.0-or-later
#include "looks/stand_ins.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "plan/plan.h"
#include "target/process.h"
#include "target/target.h"

#define LOOK_NS 20000000

/* The process's CPU time; 0: it has ended. */
static uint64_t cpu_ns(const struct target *t, size_t process)
{
	uint64_t ns;

	return process__cpu_ns(t->processes[process].pid, &ns) ? 0 : ns;
}

/* The busiest process of the object. */
static uint32_t busiest(const struct target_object *obj, const uint64_t *ran_ns)
{
	uint32_t most = obj->processes[0];

	for (uint32_t i = 1; i < obj->processes_cnt; i++) {
		if (ran_ns[obj->processes[i]] > ran_ns[most])
			most = obj->processes[i];
	}
	return most;
}

/* Sets ran_ns, by process, to the CPU time since its clock was as in clocks_ns, which is set to
 * now: 5 ms where that was 70 ms and is 75 now. Returns the sum of all. */
static uint64_t note_runs(const struct target *t, uint64_t *clocks_ns, uint64_t *ran_ns)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->processes_cnt; i++) {
		uint64_t now = cpu_ns(t, i);

		ran_ns[i] = now > clocks_ns[i] ? now - clocks_ns[i] : 0;
		sum += ran_ns[i];
		clocks_ns[i] = now;
	}
	return sum;
}

int stand_ins__choose(struct stand_ins *s, const struct plan *p, const struct target *t,
		      uint64_t *ran_ns)
{
	const struct timespec moment = {.tv_nsec = LOOK_NS};
	uint64_t *each_ns, *clocks_ns;
	int err = 0;

	*s = (struct stand_ins){.target = t};
	*ran_ns = 0;
	if (t->processes_cnt < 2)
		return 0;
	each_ns = calloc(2 * t->processes_cnt, sizeof(*each_ns));
	if (!each_ns)
		return -ENOMEM;
	clocks_ns = each_ns + t->processes_cnt;
	note_runs(t, clocks_ns, each_ns);
	nanosleep(&moment, NULL);
	*ran_ns = note_runs(t, clocks_ns, each_ns);
	if (*ran_ns) {
		s->chosen = calloc(t->processes_cnt, sizeof(*s->chosen));
		err = s->chosen ? 0 : -ENOMEM;
	}
	for (size_t i = 0; s->chosen && i < p->functions_cnt; i++) {
		const struct target_object *obj = &t->objects[p->functions[i].object];

		/* Functions of an object follow each other. */
		if (obj->processes_cnt &&
		    (!i || p->functions[i - 1].object != p->functions[i].object))
			s->chosen[busiest(obj, each_ns)] = true;
	}
	free(each_ns);
	return err;
}

bool stand_ins__suit(const struct plan *p, const struct target *t)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (t->objects[p->functions[i].object].processes_cnt != t->processes_cnt)
			return false;
	}
	return t->processes_cnt > 1;
}

int stand_ins__draw(struct stand_ins *s, const struct target *t, uint64_t *before_ns,
		    uint64_t ran_ns, double random)
{
	uint64_t *had_ns = calloc(t->processes_cnt + 1, sizeof(*had_ns)), sum;
	double at;

	*s = (struct stand_ins){.target = t};
	if (!had_ns)
		return -ENOMEM;
	sum = note_runs(t, before_ns, had_ns);
	at = random * (double)sum;
	if (sum && sum >= ran_ns / 2) {
		size_t i = 0;

		while (i + 1 < t->processes_cnt && at >= (double)had_ns[i])
			at -= (double)had_ns[i++];
		s->chosen = calloc(t->processes_cnt, sizeof(*s->chosen));
		if (s->chosen)
			s->chosen[i] = true;
	}
	free(had_ns);
	return !sum || sum < ran_ns / 2 || s->chosen ? 0 : -ENOMEM;
}

uint64_t stand_ins__cpu_ns(struct stand_ins *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; s->chosen && i < s->target->processes_cnt; i++)
		sum += s->chosen[i] ? cpu_ns(s->target, i) : 0;
	if (sum > s->last_ns)
		s->last_ns = sum;
	return s->last_ns;
}

void stand_ins__clear(struct stand_ins *s)
{
	free(s->chosen);
	s->chosen = NULL;
}
