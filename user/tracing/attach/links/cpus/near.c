// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/cpus/near.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "target/process.h"
#include "util/clock.h"

#define FEW	 16	  /* probes: finding the CPU takes as long as they do elsewhere */
#define STAYS_NS 20000000 /* the busy thread stays the one for so long */

/* The thread that was busy at the last look: looking at all threads takes 0.1 ms, at one 0.02. */
static struct {
	pthread_mutex_t lock;
	struct near near;
	uint64_t until_ns; /* valid */
	bool found;
	struct process_thread thread;
} latest = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cpu_set_t allowed;
static bool known; /* what `allowed` is */

static void look(void)
{
	known = !sched_getaffinity(0, sizeof(allowed), &allowed);
}

/* Sets *out to the one busy thread, as it was up to 20 ms ago. False: there is none. */
static bool find_thread(const struct near *near, struct process_thread *out)
{
	uint64_t at_ns = now_ns();
	bool found;

	pthread_mutex_lock(&latest.lock);
	if (at_ns >= latest.until_ns || memcmp(near, &latest.near, sizeof(*near))) {
		latest.found = process__busy_thread(near->pids, near->cnt, &latest.thread);
		latest.near = *near;
		latest.until_ns = at_ns + STAYS_NS;
	}
	*out = latest.thread;
	found = latest.found;
	pthread_mutex_unlock(&latest.lock);
	return found;
}

bool near__is_one(const struct near *near, size_t probes)
{
	struct process_thread thread;

	return probes >= FEW && find_thread(near, &thread) && thread.alone;
}

void near__go(const struct near *near, size_t probes)
{
	struct process_thread thread;
	cpu_set_t one;
	int cpu;

	pthread_once(&once, look);
	if (!known || probes < FEW || !find_thread(near, &thread))
		return;
	cpu = process__thread_cpu(&thread);
	if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed))
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

void near__leave(void)
{
	if (known)
		sched_setaffinity(0, sizeof(allowed), &allowed);
}
