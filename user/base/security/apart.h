/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process of ours that serves the others by a socket and has nothing else of theirs. */
#ifndef PROFTRACE_SECURITY_APART_H
#define PROFTRACE_SECURITY_APART_H

#define APART_SOCKET 3 /* the descriptor that it is served by */

/*
 * For the child, just forked: leaves its parent's session and its terminal, and closes all files
 * but `socket`. Signals that end a run, as SIGINT, do not reach it: it ends once the socket has no
 * other side. `name`: for ps.
 */
void apart__go(int socket, const char *name);

/* Why no process, or no thread, can be started, for a message: `err` is a negative errno. */
const char *apart__why_not(int err);

#endif
