// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The event is the kernel's software clock of a CPU (PERF_COUNT_SW_CPU_CLOCK), which needs no
 * hardware counter and so works in virtual machines, too. It is opened for a CPU, not for threads:
 * one descriptor a CPU, however many threads there are, and threads that begin later are seen.
 */
#include "attach/sample_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/links/skeleton.h"
#include "attach/tracer_inside.h"

#define CPUS_MAX 8192 /* as many as Linux can be built for on x86-64 */

struct sample_clock {
	int *fds;
	size_t cnt;
};

static int open_event(int cpu, uint32_t hz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / hz,
		.disabled = 1,
		.exclude_idle = 1,
		.exclude_guest = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int sample_clock__new(uint32_t hz, struct sample_clock **out)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct sample_clock *c = calloc(1, sizeof(*c));
	int err = 0;

	if (!c)
		return -ENOMEM;
	if (cpus < 1 || cpus > CPUS_MAX)
		cpus = cpus < 1 ? 1 : CPUS_MAX;
	c->fds = calloc(cpus, sizeof(*c->fds));
	if (!c->fds)
		err = -ENOMEM;
	for (int cpu = 0; !err && cpu < cpus; cpu++) {
		int fd = open_event(cpu, hz);

		if (fd >= 0)
			c->fds[c->cnt++] = fd;
		else if (fd != -ENODEV) /* else the CPU is offline */
			err = fd;
	}
	if (!err && !c->cnt)
		err = -ENODEV;
	if (err) {
		sample_clock__free(c);
		return err;
	}
	*out = c;
	return 0;
}

int sample_clock__bind(struct sample_clock *c, const struct tracer *tr)
{
	int program = bpf_program__fd(tr->skel->progs.on_sample);

	if (!tr->tables.samples_cap || program < 0)
		return -ENOTSUP;
	for (size_t i = 0; i < c->cnt; i++) {
		if (ioctl(c->fds[i], PERF_EVENT_IOC_SET_BPF, program))
			return -errno;
	}
	return 0;
}

static void all(const struct sample_clock *c, unsigned long request)
{
	for (size_t i = 0; c && i < c->cnt; i++)
		ioctl(c->fds[i], request, 0);
}

void sample_clock__start(struct sample_clock *c)
{
	all(c, PERF_EVENT_IOC_ENABLE);
}

void sample_clock__stop(struct sample_clock *c)
{
	all(c, PERF_EVENT_IOC_DISABLE);
}

void sample_clock__free(struct sample_clock *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->cnt; i++)
		close(c->fds[i]);
	free(c->fds);
	free(c);
}
