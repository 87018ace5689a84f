/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live page, served to browsers by a process of its own, which has no privileges. It asks for
 * an update when somebody looks; the run makes one then, no more often than it likes, and hands it
 * over in memory that both share: it never waits for viewers, and without them has nothing to do.
 */
#ifndef PROFTRACE_SERVE_SERVER_H
#define PROFTRACE_SERVE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct net_address;
struct server;
struct sink_options;

/* Listens, and says where. `any_viewer`: without a token. To be called while there is one thread,
 * and before privileges are given up. Returns 0, or -errno with one line logged. */
int server__start(const struct net_address *address, bool any_viewer, struct server **out);

/* Whether a viewer wishes something else, the last one if it was several: *function = the number of
 * the function that is to be exact, which may be no function's, and *all whether whatever what it
 * calls costs; UINT32_MAX: none is. Accepts NULL. */
bool server__wish(struct server *s, uint32_t *function, bool *all);

/* Whether somebody wants an update. Accepts NULL. */
bool server__is_asked(struct server *s);

/* Hands over *p, which is linked and may be replaced; it stays the caller's. Updates come so many
 * ns apart. Returns 0 or -ENOMEM: if the server has gone that is told once, and the run goes on. */
int server__update(struct server *s, struct profile **p, const struct sink_options *opts,
		   uint64_t apart_ns);

/* Tells viewers that this was the last one; waits a moment until they have it. Accepts NULL. */
void server__free(struct server *s);

#endif
