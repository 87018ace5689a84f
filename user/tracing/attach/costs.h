/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost of probes to the target, by cost class: a call with an entry probe at a push and an exit
 * probe at a jump costs 1.2 us, say. calibrate/ measures it. */
#ifndef PROFTRACE_ATTACH_COSTS_H
#define PROFTRACE_ATTACH_COSTS_H

#include "arch/sites.h"
#include "wire.h"

/* The cost class of an entry at a site of that class (enum site_class). */
static inline uint64_t cost_class__of_entry(uint32_t site)
{
	return site == SITE_EMUL ? WIRE_COST_ENTRY_EMUL : WIRE_COST_ENTRY + site;
}

#define PROBE_LINK_NS 8000 /* CPU time, to put a probe in and to take it out again */
#define WAIT_COST_NS  500  /* CPU time of our programs at the switches and the waking of a wait */

/* Costs of probes on this machine, as calibrate/ has measured it. All zero: unknown. */
struct probe_costs {
	struct wire_cost classes[WIRE_COST_CLASSES];
	double spread;	  /* a cost is uncertain by this share of it */
	double burden;	  /* a call costs so many times as much if the target's code, too, has to be
			   * loaded again after it */
	double cold_gain; /* if timed parts take twice as long, a cost grows by this share */
};

/* A call's whole cost in ns; classes as in enum wire_cost_class. */
static inline uint64_t probe_costs__call(const struct probe_costs *c, uint32_t entry, uint32_t exit)
{
	const struct wire_cost *in = &c->classes[entry], *out = &c->classes[exit];

	int64_t ns = (int64_t)in->inside_ns + in->outside_ns + out->inside_ns + out->outside_ns;

	return ns > 0 ? ns : 0;
}

/* Cost of a hit that is passed over, as its function has been dropped, in ns. */
static inline uint64_t probe_costs__passed(const struct probe_costs *c, uint32_t entry)
{
	uint64_t whole = probe_costs__call(c, entry, WIRE_COST_NONE);
	uint64_t spared = c->classes[WIRE_COST_SPARED].outside_ns;

	return whole > spared ? whole - spared : 0;
}

#endif
