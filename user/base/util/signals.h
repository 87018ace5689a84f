/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that we ignore, and those that we were started with ignoring, as nohup and shells'
 * background jobs do: a command is to ignore the latter too. */
#ifndef PROFTRACE_UTIL_SIGNALS_H
#define PROFTRACE_UTIL_SIGNALS_H

/* Before we set any. From here on children can be waited for. */
void signals__note(void);

/* Ignores signals that would end us as a file or pipe takes no more: the error tells of it. */
void signals__ignore(void);

/* Gives signals their former effects, in a process that is to become the command. */
void signals__restore(void);

#endif
