// SPDX-License-Identifier: GPL-2.0-or-later
#include "calibrate/assumed.h"

#include <string.h>

#include "arch/sites.h"
#include "attach/costs.h"

/* In ns. A trap takes 0.5 us on fast machines and 4 us on slow virtual ones; a single step is a
 * second trap, which virtual machines take longer for. */
#define TRAP	    1000
#define STEPPED	    4000
#define SYSTEM_CALL 300

static void set(struct probe_costs *out, int cost_class, int32_t whole_ns)
{
	out->classes[cost_class] = (struct wire_cost){whole_ns / 2, whole_ns / 2};
}

void assumed_costs(struct probe_costs *out)
{
	memset(out, 0, sizeof(*out));
	out->burden = 1;
	for (int c = WIRE_COST_ENTRY; c <= WIRE_COST_ENTRY_LAST; c++)
		set(out, c, TRAP);
	set(out, cost_class__of_entry(SITE_STEP), STEPPED);
	set(out, WIRE_COST_ENTRY_EMUL, TRAP);
	set(out, WIRE_COST_RETURN, TRAP);
	set(out, WIRE_COST_TAIL, TRAP);
	set(out, WIRE_COST_EXIT_STEP, STEPPED);
	set(out, WIRE_COST_EXIT_JMP, TRAP);
	set(out, WIRE_COST_EXIT_JCC, TRAP);
	set(out, WIRE_COST_EXIT_RET, TRAP);
	set(out, WIRE_COST_EXIT_NOP5, TRAP);
	set(out, WIRE_COST_SYSTEM_CALL, SYSTEM_CALL);
}
