/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether what a sink has written can be read by those that it is for. */
#ifndef PROFTRACE_FUZZ_WRITTEN_H
#define PROFTRACE_FUZZ_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a terminal would show it as it is: lines of UTF-8 without other control characters. */
bool written__is_plain(const char *text, size_t len);

/* Ends the fuzzer if text of that format is not plain, or JSON that is none. */
void written__check(const char *format, const char *text, size_t len);

#endif
