/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells of the agent's state: a JSON document in a file, and a line for systemd. */
#ifndef PROFTRACE_AGENT_STATUS_H
#define PROFTRACE_AGENT_STATUS_H

struct agent;

/* Looks what all processes take together: a->cpu_ns, a->memory, a->cpu_percent. */
void status__measure(struct agent *a, double span_s);

/* Why a file is none that a status may take the place of, in words that go behind its path: there
 * is another one, which is neither empty nor an agent's status. NULL: the status may be there. */
const char *status__wrong_file(const char *path);

/* Writes the file anew, unless there is another one; what fails is logged once. */
void status__write(const struct agent *a);

/* A message to systemd, as "READY=1"; nothing without it. */
void status__notify(const char *message);

#endif
