/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that sends what the ring holds to one receiver, in order. */
#ifndef PROFTRACE_AGENT_SENDER_H
#define PROFTRACE_AGENT_SENDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/config_data.h"

/* Figures that the sender's process tells the agent. */
struct sender_share {
	atomic_uint_fast64_t sent, refused, missed, waiting, bytes;
	atomic_bool away; /* the receiver takes nothing now */
};

struct sender {
	pid_t pid;
	const struct config_receiver *config;
	struct sender_share *share;
	uint64_t due_ns; /* when to begin again */
};

/* Begins its process. Returns 0 or -errno. */
int sender__begin(struct sender *s, const struct config *c);
void sender__fini(struct sender *s); /* the process is gone */

#endif
