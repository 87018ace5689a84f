/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths, numbers and foreign names as text for people. Every function with a buffer writes into the
 * caller's, always ends it with NUL, and returns it. */
#ifndef PROFTRACE_UTIL_TEXT_H
#define PROFTRACE_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The file name in a path: "redis-server" of "/usr/bin/redis-server". */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Cuts off " (deleted)", which the kernel adds in /proc to the path of a file that is gone. Returns
 * whether it was there. */
bool text_cut_deleted(char *path);

/* Copies `name` so that it is safe on a terminal: control characters (C0, DEL, C1, those of
 * bidirectional text) and invalid UTF-8 become \xNN. Truncates to `size`. */
char *text_escape(const char *name, char *buf, size_t size);

/* A duration with three significant digits and its unit: "0 ns", "812 ns", "1.23 us", "45.6 ms",
 * "7.89 s", "123 s". */
char *text_duration(uint64_t ns, char *buf, size_t size);

/* A bound for what is too short to be known: `ns` rounded up to 1, 2 or 5 times a power of ten,
 * "<50 ns", "<2 us". */
char *text_below(uint64_t ns, char *buf, size_t size);

/* "12.3%", "1234%", "<0.1%"; "0.0%" if it is not above 0. */
char *text_percent(double percent, char *buf, size_t size);

/* Changes: as above with a sign, "+1.50 ms", "-20 ns", "0 ns"; "-12.0%", "0.0%" if it is that
 * rounded; "+1,234". */
char *text_signed_duration(int64_t ns, char *buf, size_t size);
char *text_signed_percent(double percent, char *buf, size_t size);
char *text_signed_count(int64_t count, char *buf, size_t size);

/* A count with thousands separators: "1,234,567". */
char *text_count(uint64_t count, char *buf, size_t size);

/* A count that is not known to more than three digits anyway: "812", "9,516", "515k", "21.3M",
 * "1.20G". */
char *text_rough_count(uint64_t count, char *buf, size_t size);

/* The length of the library's name that begins the name of a thread-local variable's value, as -A
 * has it: 9 in "libapp.so:request_id", 11 in "libapp.so.2:request_id:x"; 0: there is none. */
size_t text_library_length(const char *name);

#endif
