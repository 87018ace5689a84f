// SPDX-License-Identifier: GPL-2.0-or-later
#include "looks/run_clock.h"

#include <math.h>

#include "util/clock.h"

#define FRESH_NS 1000000 /* many functions are dropped at once, and each asks */
#define BALANCED 0.02	 /* a look's reads for each write differ by so much from the run's */
#define SELDOM	 0.05	 /* writes for each read, or the other way: then these do not matter */

static struct moment read_clock(struct run_clock *c)
{
	c->io = tracer__io(c->tracer);
	c->io_at_ns = now_ns();
	return (struct moment){tracer__ran_ns(c->tracer), c->io};
}

void run_clock__start(struct run_clock *c, struct tracer *tr)
{
	*c = (struct run_clock){.tracer = tr, .off = c->off};
	c->start = c->off_since = read_clock(c);
}

void run_clock__off(struct run_clock *c)
{
	c->off_since = read_clock(c);
	c->off = true;
}

void run_clock__on(struct run_clock *c)
{
	struct moment off = moment__minus(read_clock(c), &c->off_since);

	c->were_off.ran_ns += off.ran_ns;
	c->were_off.io.reads += off.io.reads;
	c->were_off.io.writes += off.io.writes;
	c->off = false;
}

uint64_t run_clock__ran_ns(const struct run_clock *c)
{
	uint64_t now = c->off ? c->off_since.ran_ns : tracer__ran_ns(c->tracer);

	return now - c->start.ran_ns - c->were_off.ran_ns;
}

struct moment run_clock__now(struct run_clock *c)
{
	struct moment now = c->off_since;

	if (!c->off && now_ns() < c->io_at_ns + FRESH_NS)
		now = (struct moment){tracer__ran_ns(c->tracer), c->io};
	else if (!c->off)
		now = read_clock(c);
	return moment__minus(moment__minus(now, &c->start), &c->were_off);
}

struct moment moment__minus(struct moment later, const struct moment *earlier)
{
	later.ran_ns -= earlier->ran_ns;
	later.io.reads -= earlier->io.reads;
	later.io.writes -= earlier->io.writes;
	return later;
}

/* Whether the target hardly reads, or hardly writes: 10,000 reads and 100 writes, say. */
static bool is_one_sided(const struct tracer_io *run)
{
	double more = (double)(run->reads > run->writes ? run->reads : run->writes);
	double less = (double)(run->reads + run->writes) - more;

	return less < SELDOM * more;
}

bool tracer_io__balanced(const struct tracer_io *look, const struct tracer_io *run)
{
	double reads = (double)look->reads * (double)run->writes;
	double writes = (double)look->writes * (double)run->reads;

	return is_one_sided(run) || fabs(reads - writes) <= BALANCED * (reads + writes);
}

double tracer_io__unbalanced(const struct tracer_io *look, const struct tracer_io *run)
{
	double reads = ((double)look->reads + 1) / ((double)run->reads + 1);
	double writes = ((double)look->writes + 1) / ((double)run->writes + 1);

	return is_one_sided(run) ? 0 : log(reads / writes);
}
