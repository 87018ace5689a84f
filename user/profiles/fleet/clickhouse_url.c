// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/clickhouse_url.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "fleet/url.h"
#include "util/log.h"

int clickhouse_url__database(const struct url *u, char name[CLICKHOUSE_NAME])
{
	const char *path = u->path + 1;
	size_t len = strlen(path);
	bool good = len && len < CLICKHOUSE_NAME && !isdigit((unsigned char)*path);

	for (size_t i = 0; i < len; i++)
		good = good && (isalnum((unsigned char)path[i]) || path[i] == '_');
	if (good) {
		memcpy(name, path, len + 1);
		return 0;
	}
	log_error("%s: it has to name a database, of letters, digits and underscores: "
		  "clickhouse://HOST/DATABASE",
		  u->shown);
	return -EINVAL;
}
