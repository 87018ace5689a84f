/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in thread-local variables, by name: "request_id", "otel_thread_ctx_v1->trace_id". */
#ifndef PROFTRACE_SELECT_THREAD_VALUES_H
#define PROFTRACE_SELECT_THREAD_VALUES_H

#include <stdbool.h>
#include <stddef.h>

struct argument;
struct elf_image;

/* Gives a value that has a name the place of the thread-local variable of that name in `img`, the
 * object of the function or probe. Returns NULL, or why it cannot be read; "": there is no such
 * variable. */
const char *thread_values__place(const struct elf_image *img, struct argument *arg);

#endif
