/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that serves the page. Inside serve/ only. */
#ifndef PROFTRACE_SERVE_HTTP_H
#define PROFTRACE_SERVE_HTTP_H

/* Becomes nobody and serves until the channel's other end is closed: for daemon__fork(), with the
 * token. */
void http__run(const void *token);

#endif
