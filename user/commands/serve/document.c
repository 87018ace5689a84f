// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/document.h"

#include <errno.h>

#include "calls/profile.h"
#include "calls/tree.h"
#include "sink/page/page.h"
#include "util/json.h"
#include "views/merge.h"
#include "views/prune.h"

#define ROWS_LEAST 50
#define ROWS_MOST  5000 /* more than anybody sees, and than browsers draw each second */

static size_t count_from(const struct profile *p, uint64_t least_ns)
{
	size_t cnt = 0;

	for (size_t i = 1; i < p->nodes_cnt; i++)
		cnt += p->nodes[i].stats.total_ns >= least_ns;
	return cnt;
}

uint64_t document__least_ns(const struct profile *p, size_t rows)
{
	uint64_t too_many = 0, few = 0;

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		if (p->nodes[i].stats.total_ns >= few)
			few = p->nodes[i].stats.total_ns + 1;
	}
	if (p->nodes_cnt <= rows + 1)
		return 0;
	while (few - too_many > 1) {
		uint64_t middle = too_many + (few - too_many) / 2;

		if (count_from(p, middle) <= rows)
			few = middle;
		else
			too_many = middle;
	}
	/* Paths that took the same longest time are all shown, however many they are. */
	return count_from(p, few) ? few : too_many;
}

int document__write(struct profile **p, const struct sink_options *opts, size_t rows, FILE *out)
{
	struct json j = JSON_INIT(out);
	size_t all;
	int err = profile__join_callstacks(p);

	if (!err)
		err = profile__summarize(*p);
	if (err)
		return err;
	all = (*p)->nodes_cnt ? (*p)->nodes_cnt - 1 : 0;
	err = profile__prune(*p, document__least_ns(*p, rows));
	if (err)
		return err;
	json_open(&j, '{');
	json_member_u64(&j, "paths", all);
	json_key(&j, "profile");
	err = page_data__write(&j, *p, opts, NULL);
	json_close(&j, '}');
	if (!err && fflush(out))
		err = -errno;
	return err;
}

size_t document__fit(size_t rows, size_t bytes, size_t limit)
{
	size_t next = rows;

	/* Nine tenths of the limit: the next one may be a little larger. */
	if (bytes)
		next = (size_t)((double)rows * 0.9 * (double)limit / (double)bytes);
	if (next > rows + rows / 4)
		next = rows + rows / 4;
	return next < ROWS_LEAST ? ROWS_LEAST : next > ROWS_MOST ? ROWS_MOST : next;
}
