// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * checked CALLS: reads code of its own, as libraries do that verify themselves for FIPS 140, and as
 * those that move functions: prints a checksum of the section "checked", and calls a copy of the
 * function in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern const unsigned char __start_checked[], __stop_checked[];

__attribute__((noipa, section("checked"))) unsigned long checked_sum(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum += i * i;
	return sum;
}

__attribute__((noipa)) unsigned long unchecked_sum(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum ^= i * i;
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 10, sum = 0;
	size_t size = __stop_checked - __start_checked;
	unsigned long hash = 14695981039346656037ul; /* FNV-1a */
	unsigned char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return 2;
	for (unsigned long i = 0; i < calls; i++)
		sum += checked_sum(20) + unchecked_sum(20);
	memcpy(copy, __start_checked, size);
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ copy[i]) * 1099511628211ul;
	sum += ((unsigned long (*)(unsigned long))(void *)copy)(20);
	printf("%lx %lu\n", hash, sum);
	return 0;
}
