// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * moved: has put the page of its function `moved_away` into memory of its own before it says
 * "ready", as programs do that put all of their code onto huge pages. Then it calls that function
 * and `stays_here` 100 times each.
 */
#define _GNU_SOURCE
#include <err.h>
#include <sys/mman.h>

#include <unistd.h>

#include "target.h"

#define PAGE  4096
#define CALLS 100

static volatile unsigned long moved_cnt, stays_cnt;

/* On pages of their own. */
TRACED __attribute__((aligned(PAGE))) void moved_away(void)
{
	moved_cnt++;
}

TRACED __attribute__((aligned(PAGE))) void stays_here(void)
{
	stays_cnt++;
}

/* A name that such programs have for this. */
void MapStaticCodeToLargePages(void)
{
	void *copy = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		err(1, "mmap");
	memcpy(copy, (const void *)moved_away, PAGE);
	if (mprotect(copy, PAGE, PROT_READ | PROT_EXEC) ||
	    mremap(copy, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)moved_away) ==
		    MAP_FAILED)
		err(1, "mremap");
}

int main(int argc, char **argv)
{
	MapStaticCodeToLargePages();
	target_begin(&argc, &argv);
	if (argc > 1 && !fork()) /* never: a program that may have children */
		return 1;
	for (int i = 0; i < CALLS; i++) {
		moved_away();
		stays_here();
	}
	target_count("moved_away", moved_cnt);
	target_count("stays_here", stays_cnt);
	return 0;
}
