// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options.h"
#include "cmd/cmd.h"
#include "util/log.h"

int main(int argc, char **argv)
{
	struct options o;
	int status = options__parse(&o, argc, argv);

	if (status) {
		options__clear(&o);
		return status - 1;
	}
	log_set_level(o.quiet ? LOG_ERROR : o.verbose ? LOG_DEBUG : LOG_INFO);
	status = o.list ? cmd_list(&o) : cmd_trace(&o);
	options__clear(&o);
	return status;
}
