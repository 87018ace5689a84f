/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_TABLES_PAGE_H
#define PROFTRACE_TABLES_PAGE_H

#include <stddef.h>
#include <unistd.h>

/* The bytes of as many whole pages as `size` bytes take. */
static inline size_t page_round(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

#endif
