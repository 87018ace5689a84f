// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <unistd.h>

#include "cli/command_line.h"
#include "cli/options.h"
#include "cmd/commands.h"
#include "util/log.h"
#include "util/signals.h"

/* Descriptors that we open must not take the place of closed standard streams. What is written to
 * one of these fails, as it should. A command finds them closed, as without us. */
static void occupy_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	}
}

static int run(const struct options *o)
{
	for (size_t i = 0; i < commands_cnt; i++) {
		if (commands[i].verb == o->verb)
			return commands[i].run(o);
	}
	log_error("this proftrace only reads recordings: try report or diff (make report-only "
		  "builds one like it, make one that traces)");
	return 1;
}

int main(int argc, char **argv)
{
	struct options o;
	int status;

	signals__note();
	occupy_streams();
	status = options__parse(&o, argc, argv);
	if (status) {
		options__clear(&o);
		return status - 1;
	}
	log_set_level(o.quiet ? LOG_ERROR : o.verbose ? LOG_DEBUG : LOG_INFO);
	status = run(&o);
	options__clear(&o);
	return status;
}
