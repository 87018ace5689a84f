/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that serves the page. Inside serve/ only. */
#ifndef PROFTRACE_SERVE_HTTP_H
#define PROFTRACE_SERVE_HTTP_H

/* Becomes nobody and serves until the channel's other end is closed. Takes both descriptors over
 * and keeps no other. If it cannot, it logs one line and ends; else it asks on the channel. */
_Noreturn void http__run(int channel, int listener, const char *token);

#endif
