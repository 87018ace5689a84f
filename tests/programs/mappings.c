// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mappings: touches pages of a mapping whose protection another thread changes all the time, until
 * the thread has waited WAITS times at page faults, for the lock of the process's mappings; then
 * WAITS times in calls of mprotect().
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "target.h"

#define SIZE  (256ul << 20)
#define WAITS 20ul

static char *region;
static atomic_int stop;

TRACED void protect(void)
{
	mprotect(region, SIZE, PROT_READ);
	mprotect(region, SIZE, PROT_READ | PROT_WRITE);
}

static void *protect_again(void *arg)
{
	while (!stop)
		protect();
	return arg;
}

static unsigned long waits(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* Touches the second half of the region, which has no pages, until the thread has waited. Returns
 * how often that was. */
TRACED unsigned long touch(void)
{
	const volatile char *page = region + SIZE / 2;
	unsigned long had = waits();

	for (; page < region + SIZE && waits() == had; page += 4096)
		(void)*page;
	return waits() - had;
}

/* Changes the protection of another mapping until the thread has waited. Returns how often. */
TRACED unsigned long seal(char *page)
{
	unsigned long had = waits();

	while (waits() == had) {
		mprotect(page, 4096, PROT_READ);
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
	}
	return waits() - had;
}

int main(int argc, char **argv)
{
	unsigned long touching = 0, sealing = 0;
	pthread_t thread;
	char *page;

	target_begin(&argc, &argv);
	region = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(region, SIZE, MADV_NOHUGEPAGE);
	memset(region, 1, SIZE / 2);
	pthread_create(&thread, NULL, protect_again, NULL);
	while (touching < WAITS) {
		touching += touch();
		madvise(region + SIZE / 2, SIZE / 2, MADV_DONTNEED);
	}
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	while (sealing < WAITS)
		sealing += seal(page);
	target_count("touch", touching);
	target_count("seal", sealing);
	stop = 1;
	pthread_join(thread, NULL);
	return 0;
}
