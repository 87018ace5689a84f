/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside fleet/ only. */
#ifndef PROFTRACE_FLEET_CLICKHOUSE_URL_H
#define PROFTRACE_FLEET_CLICKHOUSE_URL_H

#define CLICKHOUSE_NAME 128

struct url;

/* The database that a URL names, which stands in queries as it is. Returns 0, or -EINVAL with one
 * line logged. */
int clickhouse_url__database(const struct url *u, char name[CLICKHOUSE_NAME]);

#endif
