/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --trigger and --until; without them none of this is in the loaded programs. With triggers a call
 * stack records calls while one of a trigger is open: that is, while any is open, if outermost ones
 * are triggers' alone. So it takes no state. A call of an until closes what is open on its call
 * stack; without triggers it closes the gate, for all.
 */
#ifndef PROFTRACE_TRIGGERS_BPF_H
#define PROFTRACE_TRIGGERS_BPF_H

#include "stacks.bpf.h"

const volatile bool has_triggers = false, has_untils = false;
bool triggers_armed = false; /* not while probes are calibrated */

u64 stopped_ns = 0; /* when an until has closed the gate; 0: none has */

static __always_inline u32 role_of(const struct wire_function_mode *s)
{
	return (has_triggers || has_untils) && s && triggers_armed ? s->role : 0;
}

/* Whether a call with that role can be the outermost one of its call stack. */
static __always_inline bool may_begin(u32 role)
{
	return !has_triggers || !triggers_armed || (role & WIRE_ROLE_TRIGGER);
}

static __always_inline void count_untriggered(void)
{
	TALLY(untriggered, 1);
}

/* The first one decides when it was. */
static __always_inline void stop_everywhere(void)
{
	SET_ONCE(&stopped_ns, bpf_ktime_get_ns());
	gate = WIRE_GATE_CLOSED;
}

#endif
