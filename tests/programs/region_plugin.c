// SPDX-License-Identifier: GPL-2.0-or-later
/* A library with regions; its host opens it while it runs. */
#include "target.h"

#include "proftrace.h"

static unsigned long plugged;

/* Returns how often the region was begun so far. */
unsigned long plugin_step(void)
{
	PROFTRACE_REGION("plugged");
	return ++plugged;
}
