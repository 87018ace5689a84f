// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/profile.h"

#include <stdlib.h>

#include "calls/session_data.h"
#include "timeline/timeline.h"
#include "timeline/waits.h"

void profile__free(struct profile *p)
{
	if (!p)
		return;
	free(p->functions);
	free(p->threads);
	free(p->nodes);
	free(p->buckets);
	free(p->drops);
	free(p->cpu_shares);
	free(p->estimates);
	free(p->arguments);
	free(p->lines);
	free(p->inlines);
	timeline__free(p->timeline);
	waits__free(p->waits);
	sessions__free(p->sessions);
	free(p);
}

const char *function_kind__name(enum function_kind kind)
{
	static const char *const names[FUNCTION_KINDS] = {
		[FUNCTION_PLAIN] = "function",
		[FUNCTION_REGION] = "region",
		[FUNCTION_CALLER] = "function",
		[FUNCTION_INLINED] = "inlined",
	};

	return names[kind];
}
