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

#define WINDOW_NS (6 * MS) /* a window */

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

int window__take(struct bursts *b)
{
	struct reading from = {0}, to = {0};
	struct look look = look__begin(b->in.tracer, bursts__ran_ns(b));
	struct tracer_survey survey = {0};
	int err = look_list__window(b);

	if (err)
		return err;
	survey.functions = b->functions;
	survey.cnt = b->list_cnt;
	err = tracer__survey(b->in.tracer, b->in.plan, b->in.target, &survey);
	look__made(&look, b->in.tracer);
	if (!err) {
		reading__take(b, &from, FIRST);
		reading__charge_passed(b);
		reading__watch(b, &from, &to, &(const struct ends){WINDOW_NS, WINDOW_COST, true});
		reading__take(b, &to, LAST);
		count_window(b, &from, &to);
	}
	tracer__take_out_survey(b->in.tracer);
	look.cpus = reading__cpus_busy(&from, &to);
	look.cost_ns =
		to.cost_ns + bursts__linking_cost((double)b->list_cnt, look_list__processes(b));
	bursts__turn_taken(b, &b->windows, &look);
	return err == -ENOMEM ? err : 0;
}
