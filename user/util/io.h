/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and writing to the end, whatever signals come meanwhile. */
#ifndef PROFTRACE_UTIL_IO_H
#define PROFTRACE_UTIL_IO_H

#include <stddef.h>
#include <sys/types.h>

/* Returns 0 or -errno. */
int io__write_all(int fd, const void *data, size_t len);

/* Until `size` bytes are there, or no more come. Returns how many, or -errno. */
ssize_t io__read_up_to(int fd, void *data, size_t size);

#endif
