// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/net_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKLOG	   64
#define SEND_BYTES (128 << 10) /* that the kernel keeps for a viewer who does not read */

static bool parse_port(const char *text, in_port_t *port)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long n = digits && digits <= 5 && !text[digits] ? strtoul(text, NULL, 10) : 65536;

	*port = htons(n);
	return n < 65536;
}

bool net_address__parse(const char *text, struct net_address *a)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&a->at;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a->at;
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	size_t len = colon ? colon - text : 0;

	memset(a, 0, sizeof(*a));
	if (len >= sizeof(host) || (colon && !len))
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	if (*host == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		v6->sin6_family = AF_INET6;
		a->len = sizeof(*v6);
		return inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1 &&
		       parse_port(colon + 1, &v6->sin6_port);
	}
	v4->sin_family = AF_INET;
	a->len = sizeof(*v4);
	if (!colon || !strcmp(host, "localhost"))
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else if (inet_pton(AF_INET, host, &v4->sin_addr) != 1)
		return false;
	return parse_port(colon ? colon + 1 : text, &v4->sin_port);
}

bool net_address__is_loopback(const struct net_address *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&a->at;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&a->at;

	if (a->at.ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

char *net_address__name(const struct net_address *a, char *buf, size_t size)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&a->at;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&a->at;
	bool is_v4 = a->at.ss_family == AF_INET;
	bool any = is_v4 ? v4->sin_addr.s_addr == htonl(INADDR_ANY)
			 : IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr);
	unsigned int port = ntohs(is_v4 ? v4->sin_port : v6->sin6_port);
	char host[256];

	if (any && !gethostname(host, sizeof(host)))
		snprintf(buf, size, "%s:%u", host, port);
	else if (is_v4)
		snprintf(buf, size, "%s:%u", inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host)),
			 port);
	else
		snprintf(buf, size, "[%s]:%u",
			 inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host)), port);
	return buf;
}

int net_address__listen(struct net_address *a)
{
	int fd = socket(a->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1, bytes = SEND_BYTES, err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)); /* of those it accepts */
	if (!bind(fd, (struct sockaddr *)&a->at, a->len) && !listen(fd, BACKLOG) &&
	    !getsockname(fd, (struct sockaddr *)&a->at, &a->len))
		return fd;
	err = -errno;
	close(fd);
	return err;
}
