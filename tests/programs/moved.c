// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * moved: has put the page of its function `moved_away` into memory of its own before it says
 * "ready", as programs do that put all of their code onto huge pages. Then it calls that function
 * and `stays_here` 100 times each. With "all" as its last argument it moves all of its code, with
 * "beside" none: it maps the page of `stays_here` for a second time, beside code that it makes, as
 * V8 does.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>

#include <unistd.h>

#include "target.h"

#define PAGE  4096l
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

static void move(const char *begin, size_t len)
{
	void *copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		err(1, "mmap");
	memcpy(copy, begin, len);
	if (mprotect(copy, len, PROT_READ | PROT_EXEC) ||
	    mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)begin) == MAP_FAILED)
		err(1, "mremap");
}

/* The first object is the program. Its code stays at its addresses, so it can move itself. */
static int move_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		const uintptr_t begin = (info->dlpi_addr + h->p_vaddr) & -PAGE;
		const uintptr_t end = info->dlpi_addr + h->p_vaddr + h->p_memsz;

		if (h->p_type == PT_LOAD && h->p_flags & PF_X)
			move((const char *)begin, ((end + PAGE - 1) & -PAGE) - begin);
	}
	return 1;
}

/* Where the program begins in memory, which is its file's begin as well. */
extern const char __ehdr_start[];

/* Maps the page of `stays_here` behind memory of its own that may be executed. */
static void map_beside(void)
{
	const off_t offset = (const char *)stays_here - __ehdr_start;
	int fd = open("/proc/self/exe", O_RDONLY);
	char *made =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || made == MAP_FAILED ||
	    mmap(made + PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, offset) ==
		    MAP_FAILED)
		err(1, "mmap");
	close(fd);
}

/* A name that such programs have for this. */
void MapStaticCodeToLargePages(const char *how)
{
	if (!strcmp(how, "beside"))
		map_beside();
	else if (!strcmp(how, "all"))
		dl_iterate_phdr(move_program, NULL);
	else
		move((const char *)moved_away, PAGE);
}

int main(int argc, char **argv)
{
	MapStaticCodeToLargePages(argv[argc - 1]);
	target_begin(&argc, &argv);
	if (argc > 2 && !fork()) /* never: a program that may have children */
		return 1;
	for (int i = 0; i < CALLS; i++) {
		moved_away();
		stays_here();
	}
	target_count("moved_away", moved_cnt);
	target_count("stays_here", stays_cnt);
	return 0;
}
