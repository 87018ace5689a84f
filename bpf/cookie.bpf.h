/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cookie of a probe: the number that user space has given to the place that is hit.
 *
 * Links keep one for each place. A trace event has many places, of which the kernel says neither
 * which is hit nor, before 5.15, anything at all: bpf_get_attach_cookie() answers for the event. So
 * each place is defined with one argument, a constant (`p:GROUP/EVENT FILE:0x1234 c=\0x56`), and
 * the handler of trace events (uprobe_dispatcher() and uretprobe_dispatcher() in
 * kernel/trace/trace_uprobe.c) leaves the address of the place's description with the thread.
 */
#ifndef PROFTRACE_COOKIE_BPF_H
#define PROFTRACE_COOKIE_BPF_H

#include "kernel.bpf.h"

/* Probes are places of trace events. */
const volatile bool trace_events = false;

static __always_inline u64 place_cookie(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct uprobe_dispatch_data *hit;
	const struct trace_uprobe *place;

	hit = (const void *)BPF_CORE_READ(task, utask, vaddr);
	place = BPF_CORE_READ(hit, tu);
	return BPF_CORE_READ(place, tp.args[0].code, immediate);
}

static __always_inline u64 probe_cookie(struct pt_regs *ctx)
{
	return trace_events || !HAS_COOKIES ? place_cookie() : bpf_get_attach_cookie(ctx);
}

#endif
