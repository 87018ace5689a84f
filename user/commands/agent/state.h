/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that the agent holds. */
#ifndef PROFTRACE_AGENT_STATE_H
#define PROFTRACE_AGENT_STATE_H

#include "agent/config_data.h"
#include "agent/exporter.h"
#include "agent/machine_budget.h"
#include "agent/ring.h"
#include "agent/sender.h"
#include "agent/service.h"

struct agent {
	const char *path; /* of the configuration */
	struct config config;
	const struct service_engine *engine;
	struct service *services;
	size_t services_cnt;
	struct sender *senders;
	size_t senders_cnt;
	struct exporter exporter; /* of metrics; without a process if they are not asked for */
	struct ring_state ring;
	int lock, recorders_lock; /* the second one is shared with all that it has begun */
	bool stopping;
	int64_t clock_ahead_s; /* of the time since boot, as the agent began */
	uint64_t upkeep_due_ns;
	/* Used by the agent with all its processes. */
	uint64_t cpu_ns, memory, kernel;
	double cpu_percent; /* of one CPU, since the last upkeep */
	struct machine_budget budget;
};

#endif
