/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code that a JIT compiler makes, from the list that it keeps for profilers: the file
 * /tmp/perf-PID.map of its process. Compilers append to it. Whoever has written it is a stranger.
 */
#ifndef PROFTRACE_SYMBOL_PERF_MAP_H
#define PROFTRACE_SYMBOL_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PERF_MAP_LINES (1u << 18)  /* that are kept; of more the last ones */
#define PERF_MAP_BYTES (64u << 20) /* that are read at a time; of more the last ones */
#define PERF_MAP_NAME  512	   /* bytes that a name may have; it is cut there */

struct perf_map;

/*
 * Opens the list of a process: in the folder that it has as /tmp, by the number that it has there.
 * No link is followed, and the file is a regular one of the process's user or root. Returns a
 * descriptor, -ENOENT (there is none), -EPERM (not of those), or another -errno.
 */
int perf_map__open(pid_t pid);

struct perf_map *perf_map__new(void); /* NULL: no memory */
void perf_map__free(struct perf_map *m);

/* Reads what the file has more than last time, in whole lines; all of it if it has become shorter.
 * Returns 1 if there was anything new, else 0, or -errno. */
int perf_map__read(struct perf_map *m, int fd);
/* Whether the file is small and has grown by a tenth or more since it was read. */
bool perf_map__has_grown(const struct perf_map *m, int fd);
/* The name of the code at an address, until the next of the above; NULL: it has none. Where lines
 * overlap the later one counts. */
const char *perf_map__find(const struct perf_map *m, uint64_t address);

#endif
