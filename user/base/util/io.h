/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and writing to the end, whatever signals come meanwhile. */
#ifndef PROFTRACE_UTIL_IO_H
#define PROFTRACE_UTIL_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns 0 or -errno. */
int io__write_all(int fd, const void *data, size_t len);

/* Until `size` bytes are there, or no more come. Returns how many, or -errno. */
ssize_t io__read_up_to(int fd, void *data, size_t size);

/* The number that a file of the kernel's begins with, as 3 in perf_event_paranoid; -1: there is no
 * such file, or it is empty. */
int io__read_number(const char *path);

/* Finds the first line of a file that has `key` in it; `rest`: what follows there, without the end
 * of the line. */
bool io__find_line(const char *path, const char *key, char *rest, size_t size);

/* Makes a file, to be read and written, in a folder (AT_FDCWD: the current one) that may be a
 * stranger's: no link is followed. `mode` is meant as it is, whatever the umask: in a sandbox it
 * cannot be changed later. Returns the descriptor or -errno; -EEXIST: the name is taken. */
int io__make(int folder, const char *name, mode_t mode);

/* Opens a file to be written, with the flags of open(2), made if it is missing: then *made is set.
 * Returns the descriptor or -errno. */
int io__create(const char *path, int flags, bool *made);
/* Removes a file that was made, if nothing has been written to it and it is still what the path
 * leads to. */
void io__uncreate(int fd, const char *path);
/* Does that with the file that io__create() has made last, unless that has been done, or another
 * process made the file. Signal handlers may call it. */
void io__uncreate_last(void);

#endif
