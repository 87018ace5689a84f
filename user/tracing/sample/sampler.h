/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples: a clock on each CPU (a perf event) looks some hundred times a second at which thread
 * runs there. Either it calls a program of ours (bpf/samples.bpf.h), or the kernel writes thread
 * and instruction into rings that it shares with us, so the threads pay nothing but the clock's
 * interrupt. The clocks go with their descriptors, however the profiler ends.
 */
#ifndef PROFTRACE_SAMPLE_SAMPLER_H
#define PROFTRACE_SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sampler;

struct sample {
	pid_t pid, tid; /* 0: of an idle CPU, or of a process outside our PID namespace */
	uint64_t ip;	/* address of the instruction that was running */
	bool in_kernel; /* it is the kernel's, which worked for that thread */
};

/* Opens a clock of `hz` looks a second on each CPU that is online, which stands still as yet. Takes
 * CAP_PERFMON, and CAP_SYS_ADMIN where kernel.perf_event_paranoid is above 2, as Debian has it.
 * Returns 0 or -errno, silently: -EACCES or -EPERM where the kernel forbids it. */
int sampler__new(unsigned int hz, struct sampler **out);
void sampler__set_rate(struct sampler *s, unsigned int hz);

/* The time of an interrupt of such a clock here, in ns, without a program: some 1,500 on a bare
 * machine, 17,000 in a virtual one whose timers are the hypervisor's. Takes some 5 ms of CPU time.
 * 0: it is not known, as the kernel refuses. */
uint64_t sampler__interrupt_ns(void);

/* These two return 0 or -errno, silently. Has the clocks call a loaded program, by its descriptor;
 * or makes the rings. */
int sampler__call(struct sampler *s, int program);
int sampler__keep(struct sampler *s);
void sampler__start(struct sampler *s);
void sampler__stop(struct sampler *s); /* when it returns no look is under way */
void sampler__free(struct sampler *s); /* accepts NULL */

/* Calls `fn` for each sample in the rings since the last time, of whatever process. Call it a few
 * times a second: a ring holds the samples of some seconds. */
void sampler__read(struct sampler *s, void (*fn)(const struct sample *sample, void *ctx),
		   void *ctx);

/* Samples so far that found no room in a ring, as nobody had read it for too long; the kernel tells
 * of them once there is room again, so a sampler__read() or two later. */
uint64_t sampler__lost(const struct sampler *s);

#endif
