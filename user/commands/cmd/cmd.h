/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands: each calls the stages in order and returns the exit status. */
#ifndef PROFTRACE_CMD_CMD_H
#define PROFTRACE_CMD_CMD_H

#include <stdbool.h>

struct options;

int cmd_trace(const struct options *o);	  /* live output, and record */
int cmd_machine(const struct options *o); /* -a, and top without a target */
int cmd_check(const struct options *o);
int cmd_agent(const struct options *o);
int cmd_list(const struct options *o); /* -l */
int cmd_report(const struct options *o);
int cmd_diff(const struct options *o);
int cmd_doctor(const struct options *o);
int cmd_send(const struct options *o);

/* Like cmd_trace(). *recorded: whether all of the result has been written, whatever the status. */
int trace_and_tell(const struct options *o, bool *recorded);

#endif
