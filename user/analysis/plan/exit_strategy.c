// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/exit_strategy.h"

const char *exit_strategy__name(enum exit_strategy s)
{
	static const char *const names[EXIT_STRATEGIES] = {"return", "sites", "none"};

	return names[s];
}
