/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bound of a burst. User space ends bursts; on a machine with more to do than processors user
 * space may have no processor for a second, in which all probes of a burst would be at work. So
 * each CPU lets a burst go on for so much of the target's CPU time and no longer. From then on the
 * burst's probes are passed over, as those of any dropped function.
 */
#ifndef PROFTRACE_BURST_BOUND_BPF_H
#define PROFTRACE_BURST_BOUND_BPF_H

#include "bursts.bpf.h"

/* How long the target may run on one CPU in a burst, in us: until threads leave the burst, as with
 * WIRE_BURST_ENDS, and until none is recorded. User space sets both before the burst begins. */
u32 burst_leaves_us = 0;
u32 burst_over_us = 0;

/* The phase of the burst that is being taken, on this CPU. */
static __always_inline u32 burst_phase_here(void)
{
	u32 phase = *(volatile u32 *)&bursting, serial = burst_serial, ran_us, cpu;
	struct wire_cpu_clock *c;
	u64 since;

	cpu = bpf_get_smp_processor_id();
	if (phase == WIRE_BURST_OFF || !keep_cpu_clocks || cpu >= WIRE_CPU_CLOCKS)
		return phase;
	c = &cpu_clocks[cpu];
	since = *(volatile u64 *)&c->since_ns;
	if (!since)
		return phase;
	/* Where the thread is preempted between these two the sum is too small for once. */
	ran_us = (*(volatile u64 *)&c->ran_ns + bpf_ktime_get_ns() - since) / 1000;
	if (c->burst != serial) {
		c->burst_from_us = ran_us;
		c->burst = serial;
	}
	ran_us -= c->burst_from_us;
	if ((s32)ran_us < 0)
		return phase;
	if (ran_us >= burst_over_us)
		return WIRE_BURST_OFF;
	return ran_us >= burst_leaves_us ? WIRE_BURST_ENDS : phase;
}

#endif
