/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent: records services all the time, each by a process of its own, keeps the recordings in
 * a ring on disk and has them sent. It only begins and ends processes, and writes its status.
 */
#ifndef PROFTRACE_AGENT_AGENT_H
#define PROFTRACE_AGENT_AGENT_H

#include "agent/service.h"

/* Runs until SIGTERM or SIGINT; SIGHUP has the configuration read again. Returns the exit status.
 */
int agent__run(const char *path, const struct service_engine *engine);

#endif
