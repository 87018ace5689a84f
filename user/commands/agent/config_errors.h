/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of what is wrong in a configuration. Inside agent/ only. */
#ifndef PROFTRACE_AGENT_CONFIG_ERRORS_H
#define PROFTRACE_AGENT_CONFIG_ERRORS_H

struct config;

/* Adds an error; line 0: in the file as a whole. Without memory for it, c->no_memory is
 * set. */
void config__complain(struct config *c, unsigned int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
