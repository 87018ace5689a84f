// SPDX-License-Identifier: GPL-2.0-or-later
/* Thread-local variables of a library: those of thread_context.c, and what lies around them. */
#include <stdint.h>

__thread char library_text[24] = "no request";
__thread uint64_t library_number;
__thread void *otel_thread_ctx_v1;
