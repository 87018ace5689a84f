// SPDX-License-Identifier: GPL-2.0-or-later
#include "bursts/window.h"

#include <errno.h>

#include "attach/tracer.h"
#include "bursts/counting.h"
#include "bursts/inside.h"
#include "bursts/look_list.h"
#include "bursts/reading.h"
#include "plan/plan.h"
#include "util/log.h"

#define WINDOW_NS  (6 * MS)  /* a window */
#define WIDE_COST  (10 * MS) /* that ends a wide window */
#define FEW_IO	   20	     /* reads and writes in a window that tell nothing of its length */
#define WIDE_APART 0.02	     /* the variance of functions in wide windows: 14 % */
#define WIDE_EVERY 2	     /* one in so many windows is wide, where that is of use */

/* Takes the counts of a window, from one reading to the other. */
static void count_window(struct bursts *b, const struct reading *from, const struct reading *to)
{
	const struct look_counts counts = {b->list, b->calls, b->list_cnt};
	double others_ns = reading__charge_passed(b), by_io_ns;
	const struct lengths lengths = {
		.cpu_ns = (double)(to->ran_ns - from->ran_ns) - others_ns,
		.reads = (double)(to->io.reads - from->io.reads),
		.writes = (double)(to->io.writes - from->io.writes),
		.unbalanced = reading__unbalanced(b, from, to),
	};

	b->cost_ns += to->cost_ns;
	if (others_ns < MOST_OTHERS * lengths.cpu_ns)
		rates__add_window(b->rates, &counts, &lengths, to->cost_ns);
	by_io_ns = bursts__own_by_io(b, &lengths);
	for (size_t k = 0; k < b->list_cnt; k++) {
		struct member *m = &b->members[b->list[k]];
		bool by_io = counting__by_io(m) && by_io_ns > 0;

		m->counted++;
		late__note(&m->late, to->at_ns, b->calls[k],
			   by_io ? by_io_ns : lengths.cpu_ns - to->cost_ns);
	}
	log_debug("window of %zu functions: %.1f ms long, %.1f ms of CPU time, costs %.2f ms and "
		  "%.2f, %.0f reads, %.0f writes, %lu calls of %s",
		  b->list_cnt, (double)(to->at_ns - from->at_ns) / 1e6,
		  (double)(to->ran_ns - from->ran_ns) / 1e6, to->cost_ns / 1e6, others_ns / 1e6,
		  lengths.reads, lengths.writes, (unsigned long)b->calls[0],
		  b->in.plan->functions[b->functions[0]].symbol);
}

/* The own time, in ns, that the target has had in a wide window, by the functions that other
 * windows know; 0: these tell nothing. */
static double wide_ns(const struct bursts *b)
{
	double calls = 0, per_ns = 0;

	for (size_t k = 0; k < b->list_cnt; k++) {
		const struct member *m = &b->members[b->list[k]];

		calls += m->counted ? (double)b->calls[k] : 0;
		per_ns += m->counted ? m->per_ns : 0;
	}
	return per_ns > 0 ? calls / per_ns : 0;
}

/* Notes how far functions that other windows know were off in a wide window beyond chance. */
static void note_apart(struct bursts *b, double own_ns)
{
	for (size_t k = 0; k < b->list_cnt; k++) {
		const struct member *m = &b->members[b->list[k]];
		double usual = m->per_ns * own_ns, off = (double)b->calls[k] / usual - 1;

		if (!m->counted || usual < 1)
			continue;
		b->wide_apart += off * off - 1 / usual;
		b->wide_known++;
	}
}

/* Whether wide windows are of use: not where reads and writes tell how long windows are, which may
 * then have several functions anyway; and only where they meet the target at moments like others,
 * which is not so where an event loop receives all requests, then answers them. */
static bool wide_is_of_use(struct bursts *b)
{
	struct moment all = bursts__own_moment(b);
	double io = (double)(all.io.reads + all.io.writes);

	return io * WINDOW_NS < FEW_IO * (double)all.ran_ns &&
	       b->wide_apart <= WIDE_APART * (double)b->wide_known;
}

/* Takes the counts of a wide window. Returns 0 or -ENOMEM. */
static int count_wide(struct bursts *b, const struct reading *from, const struct reading *to)
{
	const struct look_counts counts = {b->list, b->calls, b->list_cnt};
	double own_ns = wide_ns(b);

	b->cost_ns += to->cost_ns;
	note_apart(b, own_ns);
	for (size_t k = 0; k < b->list_cnt; k++) {
		struct member *m = &b->members[b->list[k]];

		m->counted_wide += !m->counted;
		if (own_ns > 0)
			late__note(&m->late, to->at_ns, b->calls[k], own_ns);
	}
	log_debug("wide window of %zu functions: %.1f ms long, %.1f ms of CPU time, costs %.2f ms, "
		  "apart %.3f",
		  b->list_cnt, (double)(to->at_ns - from->at_ns) / 1e6,
		  (double)(to->ran_ns - from->ran_ns) / 1e6, to->cost_ns / 1e6,
		  b->wide_known ? b->wide_apart / (double)b->wide_known : 0);
	return rates__add_wide(b->rates, &counts);
}

/* Counts the functions of the list. */
static int take(struct bursts *b, bool wide)
{
	const struct ends ends = {WINDOW_NS, wide ? WIDE_COST : WINDOW_COST, !wide};
	struct reading from = {0}, to = {0};
	struct look look = look__begin(b->in.tracer, bursts__ran_ns(b));
	const struct tracer_survey survey = {.functions = b->functions, .cnt = b->list_cnt};
	int err = tracer__survey(b->in.tracer, b->in.plan, b->in.target, &survey);

	look__made(&look, b->in.tracer);
	if (!err) {
		reading__take(b, &from, FIRST);
		reading__charge_passed(b);
		reading__watch(b, &from, &to, &ends);
		reading__take(b, &to, LAST);
		if (wide)
			err = count_wide(b, &from, &to);
		else
			count_window(b, &from, &to);
	}
	tracer__take_out_survey(b->in.tracer);
	look.cpus = reading__cpus_busy(&from, &to);
	look.cost_ns =
		to.cost_ns + bursts__linking_cost((double)b->list_cnt, look_list__processes(b));
	bursts__turn_taken(b, &b->windows, &look);
	return err == -ENOMEM ? err : 0;
}

int window__take(struct bursts *b)
{
	int err = look_list__window(b);

	return err ? err : take(b, false);
}

int window__take_any(struct bursts *b)
{
	bool wide = b->windows.cnt % WIDE_EVERY == WIDE_EVERY - 1 && wide_is_of_use(b);
	int err = wide ? look_list__wide(b) : 0;

	if (err)
		return err;
	return wide && b->list_cnt ? take(b, true) : window__take(b);
}
