/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_AGENT_HEALTH_H
#define PROFTRACE_AGENT_HEALTH_H

struct agent;

/* Gives the exporter what the agent knows of itself, its services and receivers, as metrics: what
 * the status file says. Nothing without an exporter. */
void health__write(struct agent *a);

#endif
