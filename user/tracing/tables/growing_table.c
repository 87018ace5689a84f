// SPDX-License-Identifier: GPL-2.0-or-later
#include "tables/growing_table.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "tables/page.h"
#include "util/log.h"

#define LEAST 4096 /* entries that are mapped at first, and ahead */

/* The bytes that are mapped when the table has `cnt` entries, which may lie across pages. */
static size_t bytes_of(const struct growing_table *g, uint32_t cnt)
{
	return page_round((size_t)cnt * g->entry);
}

/* Maps what lies between the entries that are mapped and the one of number `cnt`. Returns 0 or
 * -errno. */
static int extend(struct growing_table *g, uint32_t cnt)
{
	size_t from = bytes_of(g, g->mapped), to = bytes_of(g, cnt);

	if (to > from && mmap(g->at + from, to - from, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_FIXED, g->fd, (off_t)from) == MAP_FAILED)
		return -errno;
	g->mapped = cnt;
	return 0;
}

int growing_table__map(struct growing_table *g, int fd, size_t entry, uint32_t cap)
{
	/* Memory that is only read counts against no limit of data, nor is any promised. */
	void *at =
		mmap(NULL, page_round(cap * entry), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	*g = (struct growing_table){.entry = entry, .cap = cap, .fd = fd};
	if (at == MAP_FAILED)
		return -errno;
	g->at = at;
	err = extend(g, cap < LEAST ? cap : LEAST);
	if (err)
		growing_table__unmap(g);
	return err;
}

void growing_table__unmap(struct growing_table *g)
{
	if (g->at)
		munmap(g->at, bytes_of(g, g->cap));
	*g = (struct growing_table){0};
}

void growing_table__reach(struct growing_table *g, uint32_t cnt)
{
	uint64_t wanted = cnt + (uint64_t)cnt / 2 + LEAST;
	int err;

	if (g->failed || cnt <= g->mapped || g->mapped == g->cap)
		return;
	err = extend(g, wanted < g->cap ? wanted : g->cap);
	if (!err)
		return;
	log_warn("cannot map more than %u of %u entries of a BPF table: %s; calls on later paths "
		 "are missing",
		 g->mapped, g->cap, strerror(-err));
	g->failed = true;
}
