// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/share.h"

#include <time.h>

#include "util/clock.h"

#define PATIENCE_NS 10000000000ull
#define STEP_NS	    1000000

void run_share__ready(struct run_share *s)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	uint64_t until_ns = now_ns() + PATIENCE_NS;

	atomic_store(&s->ready, true);
	while (s->before && !atomic_load(&s->before->closed) && now_ns() < until_ns)
		nanosleep(&step, NULL);
}
