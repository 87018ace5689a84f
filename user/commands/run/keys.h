/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of the terminal, as they are pressed. */
#ifndef PROFTRACE_RUN_KEYS_H
#define PROFTRACE_RUN_KEYS_H

/* Has the terminal hand on keys at once and show none of them, if standard input is one and we are
 * in its foreground. Returns the descriptor to read them from, which stays the caller's; -1: no
 * keys. */
int keys__start(void);

/* Has it as it was. May be called at any time, also by a signal's handler. */
void keys__stop(void);

#endif
