/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's configuration file: sections with lines "key = value", read by inih. */
#ifndef PROFTRACE_AGENT_CONFIG_H
#define PROFTRACE_AGENT_CONFIG_H

#include <stddef.h>

#include "agent/config_data.h"

#define CONFIG_PATH "/etc/proftrace/agent.conf" /* unless another one is named */

/* Reads the file, which must be a regular one. Returns 0, also where there are errors in it, or
 * -errno with one line logged. To be cleared in any case. */
int config__read(const char *path, struct config *c);
/* The same of a text, which is changed. Returns 0 or -ENOMEM. */
int config__parse(char *text, struct config *c);
void config__clear(struct config *c);

/*
 * Adds as errors what is right by itself but not on this machine, as it is now: a user who is
 * not known, a file that is missing, not readable or another one's, a password that all who read
 * the configuration can see. Returns 0 or -ENOMEM.
 */
int config__look(struct config *c);

/* Prints the first hundred errors, each as FILE:LINE: TEXT. Returns how many there are. */
size_t config__tell(const struct config *c, const char *path);
/* Prints what config__look() finds in a configuration without errors, as warnings: an agent begins
 * all the same. */
void config__warn(struct config *c, const char *path);

#endif
