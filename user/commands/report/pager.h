/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output that is longer than the screen goes through a pager, as git's output does:
 * $PROFTRACE_PAGER, $PAGER, or less. It runs as the user who called sudo, and without privileges:
 * its process is forked while we may still become that user, and waits until there is something to
 * show. Inside report/ only.
 */
#ifndef PROFTRACE_REPORT_PAGER_H
#define PROFTRACE_REPORT_PAGER_H

#include <stdbool.h>
#include <stddef.h>

struct pager;

/* Forks the process of a pager, if there is one to be had. Call it before privileges are given up.
 * Returns NULL if there is none: then results go to stdout as they are. */
struct pager *pager__new(void);

/* Whether `text` has more lines than fit on the screen. */
bool pager__is_long(const char *text, size_t len);

/* Shows it, and returns once the pager has ended, however much of it was read. Returns false if the
 * pager could not be run: nothing has been shown. Once only. */
bool pager__show(struct pager *p, const char *text, size_t len);

/* Ends the process if it has shown nothing. Accepts NULL. */
void pager__free(struct pager *p);

#endif
