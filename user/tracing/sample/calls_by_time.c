// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/calls_by_time.h"

#include <math.h>

#define FEW 10 /* calls: fewer tell too little */
/* A call may take so much more or less than calls before did, as a share. */
#define CHANGES	    0.5
#define SHORTEST_NS 1 /* a call takes so long at least */

bool calls_by_time__of(const struct time_of_calls *t, struct calls_by_time *out)
{
	double calls = (double)t->calls, samples = (double)t->samples;
	double error_ns = t->spread * (double)t->probe_ns / calls;
	double call_ns = ((double)t->cpu_ns - (double)t->probe_ns) / calls;
	/* One sample more than there were is reckoned with, as none do not mean no time. */
	double chance_ns = sqrt(samples + 1) * (double)t->period_ns, shortest_ns, most;

	if (t->calls < FEW || !t->period_ns)
		return false;
	/* Beside probes of 11 us a call of 60 ns cannot be told: it is as long as the error at
	 * most, and as short as calls can be. */
	call_ns = fmax(call_ns, fmax(error_ns, SHORTEST_NS));
	shortest_ns = fmin(fmax(call_ns - error_ns, SHORTEST_NS), call_ns / (1 + CHANGES));
	out->calls = samples * (double)t->period_ns / call_ns;
	most = (samples * (double)t->period_ns + chance_ns) / shortest_ns;
	out->variance = (most - out->calls) * (most - out->calls);
	out->least = (samples * (double)t->period_ns - 2 * chance_ns) /
		     (call_ns + 2 * error_ns + 2 * CHANGES * call_ns);
	return true;
}
