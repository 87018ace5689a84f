// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jit [TIMES]: `called` is called by code that this program makes as it runs, in memory of no file,
 * with frame pointers: some before --wait, some later, in memory that was only reserved until then,
 * and some that is not in the list that it keeps for profilers, /tmp/perf-PID.map. Prints "PATH
 * function>...>called N" for each way, from main() on.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "target.h"

#define PAGE	 4096
#define RESERVED (64 * PAGE)

typedef unsigned long made(unsigned long n);

static unsigned long called_cnt;
static char list[64];

TRACED unsigned long called(unsigned long n)
{
	called_cnt++;
	return n + 1;
}

/* Makes a function that calls another one, in a page of its own. */
static made *make(uint8_t *page, made *callee, const char *name)
{
	static const uint8_t begin[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8}; /* movabs to %rax */
	static const uint8_t end[] = {0xff, 0xd0, 0x5d, 0xc3};
	FILE *f = name ? fopen(list, "a") : NULL;

	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE))
		exit(1);
	memcpy(page, begin, sizeof(begin));
	memcpy(page + sizeof(begin), &callee, sizeof(callee));
	memcpy(page + sizeof(begin) + sizeof(callee), end, sizeof(end));
	if (mprotect(page, PAGE, PROT_READ | PROT_EXEC))
		exit(1);
	if (f) {
		fprintf(f, "%lx %x %s\n", (unsigned long)page, 32, name);
		fclose(f);
	}
	return (made *)page;
}

int main(int argc, char **argv)
{
	uint8_t *area = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	made *early, *late, *nameless;
	unsigned long times;

	snprintf(list, sizeof(list), "/tmp/perf-%d.map", getpid());
	unlink(list);
	early = make(area, called, "made_early");
	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 10);
	late = make(area + 5 * PAGE, early, "made late, (with) blanks");
	nameless = make(area + 9 * PAGE, called, NULL);
	for (unsigned long i = 0; i < times; i++) {
		early(i);
		late(i);
		nameless(i);
	}
	printf("PATH main>made_early>called %lu\n", times);
	printf("PATH main>made late, (with) blanks>made_early>called %lu\n", times);
	printf("PATH main>[anonymous]>called %lu\n", times);
	target_count("called", called_cnt);
	unlink(list);
	return 0;
}
