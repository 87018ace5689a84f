/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text at /metrics, for Prometheus and its like to fetch, served by a process of its own without
 * privileges. Whoever has a text hands it over whenever it changes; a request never waits for him,
 * nor he for one.
 */
#ifndef PROFTRACE_SERVE_SCRAPE_H
#define PROFTRACE_SERVE_SCRAPE_H

#include <stddef.h>

struct net_address;
struct scrape;

/* Listens at *address, where it sets the port that it has got. To be called while there is one
 * thread. `type`: the text's Content-Type; has to last. Returns 0, or -errno with one line logged.
 */
int scrape__start(struct net_address *address, const char *type, struct scrape **out);

/* Hands over a text, which is served from now on. Returns 0, -ENOMEM, or -EPIPE: the process has
 * gone. */
int scrape__update(struct scrape *s, const char *text, size_t len);

/* Ends the process. Accepts NULL. */
void scrape__free(struct scrape *s);

#endif
