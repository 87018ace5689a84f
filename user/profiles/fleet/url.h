/* SPDX-License-Identifier: GPL-2.0-or-later */
/* URLs of receivers, as people write them. Inside fleet/ only, and for its tests. */
#ifndef PROFTRACE_FLEET_URL_H
#define PROFTRACE_FLEET_URL_H

#include <stdbool.h>
#include <stdint.h>

/* SCHEME://[USER[:PASSWORD]@]HOST[:PORT][/PATH]; user and password may have %XX. Owns its texts. */
struct url {
	char *scheme, *host;   /* the host in brackets if it is an IPv6 address */
	char *user, *password; /* NULL: not given */
	char *path;    /* begins with a slash, ends with none but that; no query, no fragment */
	uint16_t port; /* 0: not given */
	char *shown;   /* all of it without user and password */
};

/* Returns 0, -EINVAL (it is none, *why says in a few words what is wrong), or -ENOMEM. To be
 * cleared in any case. */
int url__parse(struct url *u, const char *text, const char **why);
void url__clear(struct url *u);

#endif
