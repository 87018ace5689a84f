// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/minute.h"

#include <string.h>

#include "calls/copy.h"
#include "calls/profile.h"
#include "views/delta.h"

#define APART_NS  10000000000ull
#define MINUTE_NS 60000000000ull

static void forget_oldest(struct minute *m)
{
	profile__free(m->kept[0]);
	memmove(m->kept, m->kept + 1, --m->cnt * sizeof(*m->kept));
}

int minute__take(struct minute *m, const struct profile *now)
{
	struct profile *copy = NULL;
	int err;

	if (m->cnt && now->duration_ns < m->kept[m->cnt - 1]->duration_ns + APART_NS)
		return 0;
	err = profile__copy(now, &copy);
	if (err) {
		profile__free(copy);
		return err;
	}
	if (m->cnt == MINUTE_KEPT)
		forget_oldest(m);
	m->kept[m->cnt++] = copy;
	/* The oldest one that is kept is a minute old, or the first of all. */
	while (m->cnt > 1 && m->kept[1]->duration_ns + MINUTE_NS <= now->duration_ns)
		forget_oldest(m);
	return 0;
}

int minute__of(const struct minute *m, const struct profile *now, struct profile **out)
{
	const struct profile *then = m->cnt ? m->kept[0] : NULL;

	/* A run of less than a minute is shown from its begin on. */
	if (then && now->duration_ns < MINUTE_NS)
		then = NULL;
	return profile__delta(now, then, out);
}

void minute__fini(struct minute *m)
{
	while (m->cnt)
		forget_oldest(m);
}
