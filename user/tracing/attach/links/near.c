// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/near.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "target/process.h"

#define FEW 16 /* probes: finding the CPU takes as long as they do elsewhere */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cpu_set_t allowed;
static bool known; /* what `allowed` is */

static void look(void)
{
	known = !sched_getaffinity(0, sizeof(allowed), &allowed);
}

void near__go(const struct near *near, size_t probes)
{
	cpu_set_t one;
	int cpu;

	pthread_once(&once, look);
	if (!known || probes < FEW)
		return;
	cpu = process__busy_cpu(near->pids, near->cnt);
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
