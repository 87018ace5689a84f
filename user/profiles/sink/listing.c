// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/listing.h"

#include <stdlib.h>

#include "calls/profile.h"
#include "calls/session_data.h"

struct listing *listing__new(const struct profile *p)
{
	struct listing *functions = calloc(p->functions_cnt + 1, sizeof(*functions));
	uint32_t id = 0;
	size_t i;

	if (!functions)
		return NULL;
	for (i = 1; i < p->nodes_cnt; i++)
		functions[p->nodes[i].function].listed = true;
	for (i = 0; i < p->functions_cnt; i++)
		functions[i].whole = true;
	for (i = 0; i < p->drops_cnt; i++) {
		struct listing *l = &functions[p->drops[i].function];

		l->dropped = true;
		if (p->drops[i].sampled || !l->whole)
			continue;
		l->whole = false;
		l->whole_until_ns = p->drops[i].at_ns;
	}
	for (i = 0; i < p->functions_cnt; i++) {
		struct listing *l = &functions[i];

		l->listed = (l->listed || p->functions[i].stats.calls) && !p->functions[i].hidden;
	}
	/* What sessions are made of is listed, however cheap. */
	for (i = 1; p->sessions && i < p->sessions->paths_cnt; i++)
		functions[p->sessions->paths[i].function].listed = true;
	for (i = 0; i < p->functions_cnt; i++) {
		if (functions[i].listed)
			functions[i].id = id++;
	}
	return functions;
}
