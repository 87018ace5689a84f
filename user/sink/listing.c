// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/listing.h"

#include <stdlib.h>

#include "calls/profile.h"

struct listing *listing__new(const struct profile *p)
{
	struct listing *functions = calloc(p->functions_cnt + 1, sizeof(*functions));
	uint32_t id = 0;
	size_t i;

	if (!functions)
		return NULL;
	for (i = 1; i < p->nodes_cnt; i++)
		functions[p->nodes[i].function].listed = true;
	for (i = 0; i < p->drops_cnt; i++)
		functions[p->drops[i].function].dropped = true;
	for (i = 0; i < p->functions_cnt; i++) {
		struct listing *l = &functions[i];

		l->listed = (l->listed || p->functions[i].stats.calls) && !p->functions[i].hidden;
		if (l->listed)
			l->id = id++;
	}
	return functions;
}
