/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals that we were started with ignoring, as nohup and shells' background jobs do: a
 * command is to ignore them too. */
#ifndef PROFTRACE_UTIL_SIGNALS_H
#define PROFTRACE_UTIL_SIGNALS_H

/* Before we set any. */
void signals__note(void);

/* In a process that is to become the command. */
void signals__restore(void);

#endif
