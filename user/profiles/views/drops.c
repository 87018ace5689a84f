// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/drops.h"

#include <stdlib.h>

#include "calls/profile.h"

bool *drops__last(const struct profile *p)
{
	bool *last = calloc(p->drops_cnt + 1, sizeof(*last));
	bool *later = calloc(p->functions_cnt + 1, sizeof(*later));

	for (size_t i = p->drops_cnt; last && later && i-- > 0;) {
		uint32_t function = p->drops[i].function;

		last[i] = !later[function];
		later[function] = true;
	}
	if (!later) {
		free(last);
		last = NULL;
	}
	free(later);
	return last;
}

size_t drops__functions(const struct profile *p)
{
	bool *last = drops__last(p);
	size_t cnt = 0;

	for (size_t i = 0; last && i < p->drops_cnt; i++)
		cnt += last[i];
	free(last);
	return cnt;
}
