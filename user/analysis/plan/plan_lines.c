// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/plan_lines.h"

#include <search.h>
#include <stdlib.h>

void plan_lines__free(struct plan_lines *l)
{
	if (!l)
		return;
	tdestroy(l->strings, free);
	free(l->lines);
	free(l->sites);
	free(l->inlines);
	free(l);
}
