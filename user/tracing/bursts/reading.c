// SPDX-License-Identifier: GPL-2.0-or-later
#include "bursts/reading.h"

#include <stddef.h>
#include <time.h>

#include "attach/tracer.h"
#include "bursts/counting.h"
#include "bursts/inside.h"
#include "collect/collector.h"
#include "util/clock.h"

#define PATIENCE     5	      /* a look at an idle target lasts so many times as long, at most */
#define PATIENCE_ONE 20	      /* the same where one process stands for all */
#define LONGER	     2	      /* a window may last so many times as long to be balanced */
#define SKEW_NS	     (MS / 5) /* counts and clocks are read within this, or once more */
#define READINGS     10

double reading__charge_passed(struct bursts *b)
{
	double before_ns = b->cost_ns;

	for (size_t i = 0; i < b->cnt; i++) {
		struct member *m = &b->members[i];
		uint64_t passed = collector__passed(b->in.collector, m->function);

		b->cost_ns += (double)(passed - m->passed) * m->count_ns;
		m->passed = passed;
	}
	return b->cost_ns - before_ns;
}

void reading__take(struct bursts *b, struct reading *r, enum which which)
{
	for (int i = 0; i < READINGS; i++) {
		r->at_ns = now_ns();
		r->ran_ns = b->stand_ins.chosen ? stand_ins__cpu_ns(&b->stand_ins)
						: tracer__ran_ns(b->in.tracer);
		for (size_t k = 0; k < b->list_cnt; k++)
			b->read[k] = collector__surveyed(b->in.collector, b->functions[k]);
		if (which != BETWEEN)
			r->io = tracer__io(b->in.tracer);
		if (now_ns() - r->at_ns < SKEW_NS)
			break;
	}
	r->cost_ns = 0;
	for (size_t k = 0; k < b->list_cnt; k++) {
		uint64_t calls = which == FIRST ? 0 : b->read[k] - b->calls[k];

		r->cost_ns += (double)calls * b->members[b->list[k]].count_ns;
		if (which != BETWEEN)
			b->calls[k] = which == FIRST ? b->read[k] : calls;
	}
}

void reading__wait(uint64_t ns)
{
	const struct timespec time = {.tv_nsec = ns};

	nanosleep(&time, NULL);
}

static struct tracer_io io_since(const struct reading *from, struct tracer_io now)
{
	return (struct tracer_io){now.reads - from->io.reads, now.writes - from->io.writes};
}

/* Reads and writes in a window, up to now. */
static bool is_balanced(struct bursts *b, const struct reading *from)
{
	struct tracer_io look = io_since(from, tracer__io(b->in.tracer));
	struct tracer_io run = run_clock__now(&b->clock).io;

	return tracer_io__balanced(&look, &run);
}

double reading__unbalanced(struct bursts *b, const struct reading *from, const struct reading *to)
{
	struct tracer_io look = io_since(from, to->io), run = run_clock__now(&b->clock).io;

	return tracer_io__unbalanced(&look, &run);
}

void reading__watch(struct bursts *b, const struct reading *from, struct reading *to,
		    const struct ends *ends)
{
	const uint64_t patience = b->stand_ins.chosen ? PATIENCE_ONE : PATIENCE;
	bool over = false, too_long;

	/* Who wakes often disturbs those who share processors with the target. */
	reading__wait(ends->ns / 2);
	do {
		uint64_t ns;

		reading__wait(over ? STEP_NS / 2 : STEP_NS);
		reading__take(b, to, BETWEEN);
		ns = to->at_ns - from->at_ns;
		over = to->cost_ns >= ends->cost_ns ||
		       (ns >= ends->ns &&
			(to->ran_ns - from->ran_ns >= ends->ns || ns >= patience * ends->ns));
		too_long = to->cost_ns >= LONGER * ends->cost_ns || ns >= LONGER * ends->ns;
	} while (!over || (ends->balanced && !too_long && !is_balanced(b, from)));
}

double reading__cpus_busy(const struct reading *from, const struct reading *to)
{
	return to->at_ns > from->at_ns
		       ? (double)(to->ran_ns - from->ran_ns) / (double)(to->at_ns - from->at_ns)
		       : 0;
}
