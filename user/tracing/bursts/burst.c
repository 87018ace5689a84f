// SPDX-License-Identifier: GPL-2.0-or-later
#include "bursts/burst.h"

#include <errno.h>

#include "attach/tracer.h"
#include "bursts/counting.h"
#include "bursts/inside.h"
#include "bursts/look_list.h"
#include "bursts/reading.h"
#include "util/clock.h"
#include "util/log.h"

#define EDGE_LEAST  (MS / 2)
#define EDGE_CPUS   4	       /* the same on so many busy CPUs, and less on more */
#define QUIET_STEPS 3	       /* of waiting, without a call: a burst is over */
#define BURST_COST  (50 * MS)  /* that ends a burst, by entries alone: many threads */
#define REST_NS	    (300 * MS) /* from burst to burst, at least: links take long to be closed */
#define LATE	    4	       /* times its usual length that a burst goes on by itself */

/* One end of a burst: it lasts until the first of these. */
struct edge {
	uint64_t most_ns;     /* so much time has gone by */
	uint64_t most_ran_ns; /* the target has run for so long */
	int most_quiet;	      /* no call was counted in so many steps; 0: no condition */
};

/* Waits while threads come into the burst, or leave it. */
static void watch_edge(struct bursts *b, struct reading *to, const struct edge *edge)
{
	const struct reading from = *to;
	int quiet = 0;

	do {
		double cost_ns = to->cost_ns;

		reading__wait(STEP_NS);
		reading__take(b, to, BETWEEN);
		quiet = to->cost_ns > cost_ns ? 0 : quiet + 1;
	} while (to->at_ns < from.at_ns + edge->most_ns &&
		 to->ran_ns < from.ran_ns + edge->most_ran_ns &&
		 !(edge->most_quiet && quiet >= edge->most_quiet));
}

/* Records a burst: between system calls of each thread, see enum wire_burst_phase. For threads that
 * make none in time, later bursts wait less. */
static void record(struct bursts *b, struct reading *from, struct reading *to)
{
	const uint64_t most_ns = (uint64_t)(EDGE_PART * (double)b->in.burst_ns);
	const struct edge begins = {b->edge_ns, EDGE_CPUS * b->edge_ns, 0};
	const struct edge leaves = {most_ns, EDGE_CPUS * most_ns, QUIET_STEPS};

	uint64_t longest_ns = LATE * (b->edge_ns + b->in.burst_ns);

	tracer__bound_burst(b->in.tracer, longest_ns, longest_ns + most_ns);
	reading__take(b, from, FIRST);
	*to = *from;
	tracer__set_burst_phase(b->in.tracer, WIRE_BURST_BEGINS);
	watch_edge(b, to, &begins);
	b->edge_ns = to->cost_ns > 0 ? most_ns : b->edge_ns / 2;
	if (b->edge_ns < EDGE_LEAST)
		b->edge_ns = EDGE_LEAST;
	tracer__set_burst_phase(b->in.tracer, WIRE_BURST_GOES_ON);
	reading__watch(
		b, from, to,
		&(const struct ends){to->at_ns - from->at_ns + b->in.burst_ns, BURST_COST, false});
	tracer__set_burst_phase(b->in.tracer, WIRE_BURST_ENDS);
	watch_edge(b, to, &leaves);
	tracer__set_burst_phase(b->in.tracer, WIRE_BURST_OFF);
	reading__take(b, to, LAST);
}

static void note_burst(struct bursts *b, double ran_ns, double cost_ns)
{
	double own_ns = late__own_in_burst(ran_ns, cost_ns);

	for (size_t k = 0; k < b->list_cnt; k++)
		late__note(&b->members[b->list[k]].late, b->ended_ns, b->calls[k], own_ns);
}

/* CPU time, in ns, that probes have cost the target in a burst: all that it has run, but for the
 * time that so many reads and writes usually take. Of 10 ms with six requests, 16 us each, 9.9 ms.
 * At least the calibrated cost of the calls. */
static double burst_cost(struct bursts *b, const struct reading *from, const struct reading *to)
{
	const struct lengths lengths = {
		.reads = (double)(to->io.reads - from->io.reads),
		.writes = (double)(to->io.writes - from->io.writes),
	};
	double own_ns = bursts__own_by_io(b, &lengths),
	       ran_ns = (double)(to->ran_ns - from->ran_ns);
	double calls_ns = 0;

	for (size_t k = 0; k < b->list_cnt; k++)
		calls_ns += (double)b->calls[k] * b->members[b->list[k]].call_ns;
	return own_ns > 0 && ran_ns - own_ns > calls_ns ? ran_ns - own_ns : calls_ns;
}

/* Calls of all functions of the look. */
static unsigned long calls_of(const struct bursts *b)
{
	unsigned long sum = 0;

	for (size_t k = 0; k < b->list_cnt; k++)
		sum += b->calls[k];
	return sum;
}

/* Takes the counts of a burst. */
static int count_burst(struct bursts *b, bool after_window)
{
	const struct look_counts counts = {b->list, b->calls, b->list_cnt};
	int err = rates__add_burst(b->rates, &counts, after_window);

	return err ? err : bursts__set_rates(b, NULL);
}

int burst__take(struct bursts *b, uint64_t now, bool after_window)
{
	double calls_ns = 0, probes;
	struct reading from = {0}, to = {0};
	struct look look = look__begin(b->in.tracer, bursts__ran_ns(b));
	struct tracer_survey burst = {0};
	bool in_one = look_list__is_in_one(b);
	int err = look_list__burst(b, in_one, &probes);

	if (!err && in_one)
		err = look_list__choose_process(b);
	if (err)
		return err;
	tracer__forget_bursts(b->in.tracer, now);
	burst = (struct tracer_survey){b->functions, b->list_cnt, b->stand_ins.chosen};
	err = tracer__put_in_burst(b->in.tracer, b->in.plan, b->in.target, &burst);
	look__made(&look, b->in.tracer);
	if (!err) {
		record(b, &from, &to);
		b->ended_ns = now_ns();
		/* Long before its links are closed, or all calls up to then were shown below what
		 * has left unseen. */
		tracer__forget_bursts(b->in.tracer, b->ended_ns);
		b->taken++;
		b->taken_ns += to.at_ns - from.at_ns;
	}
	tracer__take_out_burst(b->in.tracer);
	if (!err)
		calls_ns = burst_cost(b, &from, &to);
	if (!err)
		err = count_burst(b, after_window);
	if (!err)
		note_burst(b, (double)(to.ran_ns - from.ran_ns), calls_ns);
	b->cost_ns += calls_ns;
	look.cpus = reading__cpus_busy(&from, &to);
	look.cost_ns =
		calls_ns +
		bursts__linking_cost(probes, b->stand_ins.chosen ? 1 : look_list__processes(b));
	stand_ins__clear(&b->stand_ins);
	bursts__turn_taken(b, &b->bursts, &look);
	b->bursts.next_ns = now + REST_NS;
	log_debug("burst of %zu functions: %.1f ms to make, %.1f ms long, %.1f ms of CPU time, "
		  "costs %.1f ms, %lu calls",
		  b->list_cnt, (double)look.made_ns / 1e6, (double)(to.at_ns - from.at_ns) / 1e6,
		  (double)(to.ran_ns - from.ran_ns) / 1e6, calls_ns / 1e6, calls_of(b));
	return err == -ENOMEM ? err : 0;
}
