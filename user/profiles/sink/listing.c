// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/listing.h"

#include <stdlib.h>

#include "calls/profile.h"
#include "calls/session_data.h"

static struct listing *make(const struct profile *p, const struct sessions *s)
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
	for (i = 1; s && i < s->paths_cnt; i++)
		functions[s->paths[i].function].listed = true;
	for (i = 0; i < p->functions_cnt; i++) {
		if (functions[i].listed)
			functions[i].id = id++;
	}
	return functions;
}

struct listing *listing__new(const struct profile *p)
{
	return make(p, NULL);
}

struct listing *listing__with_sessions(const struct profile *p)
{
	return make(p, p->sessions);
}
