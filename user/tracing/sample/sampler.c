// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The event is the kernel's software clock of a CPU (PERF_COUNT_SW_CPU_CLOCK), which needs no
 * hardware counter and so works in virtual machines, too. It is opened for a CPU, not for threads:
 * one descriptor a CPU, however many threads there are, and threads that begin later are seen. The
 * rings' layout is described in linux/perf_event.h, at struct perf_event_mmap_page.
 */
#include "sample/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/clock.h"

#define RING_PAGES   8 /* a power of two; a sample takes 24 bytes, so 1,300 fit into 32 KB */
#define NS_IN_SECOND 1000000000
#define CPUS_MAX     8192 /* as many as Linux can be built for on x86-64 */

struct ring {
	int fd;
	struct perf_event_mmap_page *page; /* the data begins a page behind it; NULL: nothing is
					    * kept */
};

struct sampler {
	struct ring *rings;
	size_t rings_cnt;
	size_t page_size;
	uint64_t lost; /* samples that found no room in a ring */
};

/* A PERF_RECORD_SAMPLE with PERF_SAMPLE_IP and PERF_SAMPLE_TID. */
struct sample_record {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
};

/* A PERF_RECORD_LOST: there is room again. */
struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

/* Opens the clock of a CPU, or of the current thread (cpu -1). */
static int open_clock(int cpu, unsigned int hz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
		.sample_period = NS_IN_SECOND / hz,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		.exclude_idle = 1,
		.exclude_guest = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, cpu < 0 ? 0 : -1, cpu, -1,
			 PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int sampler__new(unsigned int hz, struct sampler **out)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct sampler *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->page_size = sysconf(_SC_PAGESIZE);
	if (cpus < 1 || cpus > CPUS_MAX)
		cpus = cpus < 1 ? 1 : CPUS_MAX;
	s->rings = calloc(cpus, sizeof(*s->rings));
	if (!s->rings)
		err = -ENOMEM;
	for (int cpu = 0; !err && cpu < cpus; cpu++) {
		int fd = open_clock(cpu, hz);

		if (fd >= 0)
			s->rings[s->rings_cnt++].fd = fd;
		else if (fd != -ENODEV) /* else the CPU is offline */
			err = fd;
	}
	if (!err && !s->rings_cnt)
		err = -ENODEV;
	if (err) {
		sampler__free(s);
		return err;
	}
	*out = s;
	return 0;
}

int sampler__call(struct sampler *s, int program)
{
	for (size_t i = 0; i < s->rings_cnt; i++) {
		if (ioctl(s->rings[i].fd, PERF_EVENT_IOC_SET_BPF, program))
			return -errno;
	}
	return 0;
}

int sampler__keep(struct sampler *s)
{
	for (size_t i = 0; i < s->rings_cnt; i++) {
		void *page = mmap(NULL, (1 + RING_PAGES) * s->page_size, PROT_READ | PROT_WRITE,
				  MAP_SHARED, s->rings[i].fd, 0);

		if (page == MAP_FAILED)
			return -errno;
		s->rings[i].page = page;
	}
	return 0;
}

void sampler__set_rate(struct sampler *s, unsigned int hz)
{
	uint64_t period = NS_IN_SECOND / hz;

	for (size_t i = 0; i < s->rings_cnt; i++)
		ioctl(s->rings[i].fd, PERF_EVENT_IOC_PERIOD, &period);
}

#define TRIED_HZ       10000
#define TRIED_NS       5000000 /* long enough for 50 interrupts */
#define GAPS_MAX       24      /* interrupts that are enough */
#define GAPS_MIN       8       /* fewer interrupts say nothing */
#define GAP_LEAST_NS   500     /* no interrupt is shorter */
#define GAP_READINGS   4       /* no interrupt is shorter than so many looks at the time */
#define READINGS_TRIED 64

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* How long a look at the time takes, at the least. */
static uint64_t reading_ns(void)
{
	uint64_t least = UINT64_MAX, before = now_ns();

	for (int i = 0; i < READINGS_TRIED; i++) {
		uint64_t now = now_ns();

		least = now - before < least ? now - before : least;
		before = now;
	}
	return least;
}

/* Looks at the time again and again: how long it stood still, each time an interrupt came. */
static size_t find_gaps(uint64_t gaps[GAPS_MAX])
{
	uint64_t reading = reading_ns(), start = now_ns(), before = start, now;
	uint64_t least =
		GAP_READINGS * reading > GAP_LEAST_NS ? GAP_READINGS * reading : GAP_LEAST_NS;
	size_t cnt = 0;

	for (; before - start < TRIED_NS && cnt < GAPS_MAX; before = now) {
		now = now_ns();
		if (now - before > least)
			gaps[cnt++] = now - before - reading;
	}
	return cnt;
}

/* Other interrupts, and other threads that run meanwhile, are few beside 10,000 a second: the
 * median does not know them. */
uint64_t sampler__interrupt_ns(void)
{
	uint64_t gaps[GAPS_MAX];
	int fd = open_clock(-1, TRIED_HZ);
	size_t cnt;

	if (fd < 0)
		return 0;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	cnt = find_gaps(gaps);
	close(fd);
	qsort(gaps, cnt, sizeof(*gaps), compare_ns);
	return cnt < GAPS_MIN ? 0 : gaps[cnt / 2];
}

static void all(const struct sampler *s, unsigned long request)
{
	for (size_t i = 0; i < s->rings_cnt; i++)
		ioctl(s->rings[i].fd, request, 0);
}

void sampler__start(struct sampler *s)
{
	all(s, PERF_EVENT_IOC_ENABLE);
}

void sampler__stop(struct sampler *s)
{
	all(s, PERF_EVENT_IOC_DISABLE);
}

void sampler__free(struct sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->rings_cnt; i++) {
		if (s->rings[i].page)
			munmap(s->rings[i].page, (1 + RING_PAGES) * s->page_size);
		close(s->rings[i].fd);
	}
	free(s->rings);
	free(s);
}

/* Copies `size` bytes of the ring from `at` on; the data may go on at the ring's beginning. */
static void ring_copy(const char *data, size_t ring_size, uint64_t at, void *to, size_t size)
{
	size_t offset = at & (ring_size - 1), first = ring_size - offset;

	if (first > size)
		first = size;
	memcpy(to, data + offset, first);
	memcpy((char *)to + first, data, size - first);
}

static void ring_read(struct sampler *s, struct ring *r,
		      void (*fn)(const struct sample *sample, void *ctx), void *ctx)
{
	const char *data = (const char *)r->page + s->page_size;
	const size_t ring_size = RING_PAGES * s->page_size;
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = r->page->data_tail;

	while (head - at >= sizeof(struct perf_event_header)) {
		union {
			struct perf_event_header header;
			struct sample_record sample;
			struct lost_record lost;
		} record = {0};

		ring_copy(data, ring_size, at, &record.header, sizeof(record.header));
		if (record.header.size < sizeof(record.header) || record.header.size > head - at)
			break; /* no kernel writes that: what follows cannot be told apart */
		ring_copy(data, ring_size, at, &record,
			  record.header.size < sizeof(record) ? record.header.size
							      : sizeof(record));
		at += record.header.size;
		if (record.header.type == PERF_RECORD_SAMPLE) {
			const struct sample sample = {
				.pid = record.sample.pid,
				.tid = record.sample.tid,
				.ip = record.sample.ip,
				.in_kernel = (record.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
					     PERF_RECORD_MISC_KERNEL,
			};

			fn(&sample, ctx);
		} else if (record.header.type == PERF_RECORD_LOST) {
			s->lost += record.lost.lost;
		}
	}
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
}

void sampler__read(struct sampler *s, void (*fn)(const struct sample *sample, void *ctx), void *ctx)
{
	for (size_t i = 0; i < s->rings_cnt; i++)
		ring_read(s, &s->rings[i], fn, ctx);
}

uint64_t sampler__lost(const struct sampler *s)
{
	return s->lost;
}
