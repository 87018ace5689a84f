/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the calls of chosen functions took, drawn for people. */
#ifndef PROFTRACE_SINK_TEXT_HISTOGRAM_H
#define PROFTRACE_SINK_TEXT_HISTOGRAM_H

struct printer;

/* Draws the functions that opts->hists choose, the dearest first: calls by powers of two of their
 * duration, from entry to exit. Says which glob has found none. Returns 0 or -ENOMEM. */
int histogram__print(struct printer *pr);

#endif
