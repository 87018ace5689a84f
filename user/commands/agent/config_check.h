/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules for a configuration as a whole, once all of its lines are known. Inside agent/ only. */
#ifndef PROFTRACE_AGENT_CONFIG_CHECK_H
#define PROFTRACE_AGENT_CONFIG_CHECK_H

#include "agent/config_keys.h"

struct config;

/* The line that begins the section of a service or receiver of that name; 0: there is none. */
unsigned int config__section_line(const struct config *c, enum config_section s, const char *name);

/* Adds as errors what is missing in sections, or does not go together. */
void config__check(struct config *c);

#endif
