/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole screen of a terminal, for the live view; by ncurses. One at a time. */
#ifndef PROFTRACE_LIVE_TERMINAL_H
#define PROFTRACE_LIVE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct canvas;

/* Whether stdin and stdout are a terminal. Returns 0, or -ENOTTY with one line logged. */
int terminal__check(void);

/* Takes it. Returns 0, or -ENOTTY with one line logged: it is of an unknown kind. */
int terminal__start(void);

/* Gives it back as it was. Does nothing if it was not taken. */
void terminal__stop(void);

/* Its size as it is now. */
void terminal__size(size_t *rows, size_t *columns);

void terminal__paint(const struct canvas *c);

/* *key = the next key, as in top/top.h; false: none is there. */
bool terminal__key(uint32_t *key);

#endif
