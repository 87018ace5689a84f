/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses for servers to listen at: [ADDR:]PORT. */
#ifndef PROFTRACE_UTIL_NET_ADDRESS_H
#define PROFTRACE_UTIL_NET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct net_address {
	struct sockaddr_storage at;
	socklen_t len;
};

/* "8080", "0.0.0.0:8080", "[::1]:8080", "localhost:0"; without ADDR it is 127.0.0.1, and PORT 0
 * stands for a free one. Names of hosts are not looked up. False: the text is no such address. */
bool net_address__parse(const char *text, struct net_address *a);

/* Whether only this machine reaches it. */
bool net_address__is_loopback(const struct net_address *a);

/* Writes the address into `buf`, as it stands in a URL: "127.0.0.1:8080". If it stands for all of
 * the machine's addresses, the host's name is written. Returns `buf`. */
char *net_address__name(const struct net_address *a, char *buf, size_t size);

/* Returns a socket that listens there, and what address it has got, or -errno. */
int net_address__listen(struct net_address *a);

#endif
