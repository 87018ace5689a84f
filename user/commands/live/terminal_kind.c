// SPDX-License-Identifier: GPL-2.0-or-later
/* In a file of its own, as term.h makes macros of words like "columns" and "lines". */
#include "live/terminal_kind.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

bool terminal_kind__is_known(void)
{
	bool known;
	int err;

	if (setupterm(NULL, STDOUT_FILENO, &err) != OK)
		return false;
	known = cursor_address != NULL;
	del_curterm(cur_term);
	return known;
}
