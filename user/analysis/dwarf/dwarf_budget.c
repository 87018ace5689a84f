// SPDX-License-Identifier: GPL-2.0-or-later
#include "dwarf/dwarf_budget.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/log.h"

/* CPU time. A gigabyte of clang's, which leaves out where siblings are, takes 6 s to walk. */
#define FILE_NS	    3000000000ull
#define NS_PER_BYTE 30 /* of the file, compressed as it may be */
#define ALL_NS	    60000000000ull

/* Memory. libdw makes 90 bytes of a row of a line table, which is 1 to 3 bytes in the file, and
 * tables are a tenth of what compilers write. */
#define FILE_BYTES     (64ull << 20)
#define BYTES_PER_BYTE 48
#define ALL_BYTES      (256ull << 20) /* of whatever else takes memory meanwhile */

/* Sums over all files that are open. */
static struct {
	uint64_t left_ns, bytes, files;
	uint64_t resident; /* of the process, before the first of them */
} all = {.left_ns = ALL_NS};

/* Bytes of memory that the process has to itself. */
static uint64_t resident_bytes(void)
{
	unsigned long long resident = 0, shared = 0;
	char text[128];
	ssize_t len;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	if (sscanf(text, "%*u %llu %llu", &resident, &shared) != 2 || shared > resident)
		return 0;
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Half of the machine's memory is for others. */
static uint64_t allowed_bytes(void)
{
	uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
	uint64_t wanted = ALL_BYTES + all.files * FILE_BYTES + all.bytes * BYTES_PER_BYTE;

	return wanted < half ? wanted : half;
}

static void use_up(struct dwarf_budget *b, const char *what)
{
	if (!b->used_up)
		log_warn("%s: reading its debug information takes too much %s: lines and "
			 "parameters may be missing",
			 b->label, what);
	b->used_up = true;
}

/* Takes off what was spent since the last time. */
static void measure(struct dwarf_budget *b)
{
	uint64_t now = clock_ns(CLOCK_THREAD_CPUTIME_ID), spent = now - b->since_ns;

	b->since_ns = now;
	b->left_ns -= spent < b->left_ns ? spent : b->left_ns;
	all.left_ns -= spent < all.left_ns ? spent : all.left_ns;
	if (!b->left_ns || !all.left_ns)
		use_up(b, "time");
}

void dwarf_budget__begin(struct dwarf_budget *b, uint64_t bytes, const char *label)
{
	*b = (struct dwarf_budget){
		.label = label, .bytes = bytes, .left_ns = FILE_NS + bytes * NS_PER_BYTE};
	if (!all.files++)
		all.resident = resident_bytes();
	all.bytes += bytes;
}

void dwarf_budget__end(struct dwarf_budget *b)
{
	if (!b->label)
		return;
	all.files--;
	all.bytes -= b->bytes;
	*b = (struct dwarf_budget){0};
}

void dwarf_budget__enter(struct dwarf_budget *b)
{
	b->since_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void dwarf_budget__leave(struct dwarf_budget *b)
{
	measure(b);
}

bool dwarf_budget__lasts(struct dwarf_budget *b)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

	if (b->used_up || now == b->look_ns)
		return !b->used_up;
	b->look_ns = now;
	measure(b);
	return dwarf_budget__grants(b, 0);
}

uint64_t dwarf_budget__share(uint64_t bytes)
{
	return FILE_BYTES + bytes * BYTES_PER_BYTE;
}

bool dwarf_budget__grants(struct dwarf_budget *b, uint64_t bytes)
{
	uint64_t taken = resident_bytes(), allowed = allowed_bytes();

	taken = taken > all.resident ? taken - all.resident : 0;
	if (taken > allowed || bytes > allowed - taken)
		use_up(b, "memory");
	return !b->used_up;
}

void dwarf_budget__renew(void)
{
	all.left_ns = ALL_NS;
}
