/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands: each calls the stages in order and returns the exit status. */
#ifndef PROFTRACE_CMD_CMD_H
#define PROFTRACE_CMD_CMD_H

struct options;

int cmd_trace(const struct options *o); /* live output, and record */
int cmd_list(const struct options *o);	/* -l */
int cmd_report(const struct options *o);
int cmd_diff(const struct options *o);
int cmd_doctor(const struct options *o);

#endif
