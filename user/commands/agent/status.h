/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent tells of itself: a JSON document in a file, and a line for systemd. */
#ifndef PROFTRACE_AGENT_STATUS_H
#define PROFTRACE_AGENT_STATUS_H

struct agent;

/* Looks what all processes take together: a->cpu_ns, a->memory, a->cpu_percent. */
void status__measure(struct agent *a, double span_s);

/* Writes the file anew; what fails is logged once. */
void status__write(const struct agent *a);

/* A message to systemd, as "READY=1"; nothing without it. */
void status__notify(const char *message);

#endif
