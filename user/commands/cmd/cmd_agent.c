// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/cmd.h"

#include <stdio.h>

#include "agent/agent.h"
#include "agent/config.h"
#include "attach/tracer.h"
#include "cli/options.h"
#include "security/namespaces.h"
#include "security/privilege.h"

int cmd_agent(const struct options *o)
{
	const struct service_engine engine = {cmd_trace, tracer__make_turn};
	const char *path = o->inputs_cnt ? o->inputs[0] : CONFIG_PATH;
	struct config c;
	int status = 1;

	if (!o->check)
		return namespaces__check() || privilege__check() ? 1 : agent__run(path, &engine);
	if (!config__read(path, &c) && !config__look(&c) && !config__tell(&c, path)) {
		printf("%s: %zu service%s, %zu receiver%s: no errors\n", path, c.services_cnt,
		       c.services_cnt == 1 ? "" : "s", c.receivers_cnt,
		       c.receivers_cnt == 1 ? "" : "s");
		status = 0;
	}
	config__clear(&c);
	return status;
}
