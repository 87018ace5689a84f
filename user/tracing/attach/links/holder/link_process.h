/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The link holder's own side: the process that makes, holds and closes links, and loads programs,
 * as requests say (request.h). */
#ifndef PROFTRACE_ATTACH_LINKS_HOLDER_LINK_PROCESS_H
#define PROFTRACE_ATTACH_LINKS_HOLDER_LINK_PROCESS_H

#include <stdbool.h>

/* Becomes the link holder, in a process that was forked for it, and serves until the other side of
 * the socket has gone and all links are closed; then the process is to end. `events` and
 * `system_calls`: those of link_holder__new(). Errors go to whoever asks. */
void link_process__be(int socket, bool events, bool system_calls);

#endif
