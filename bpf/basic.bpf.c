// SPDX-License-Identifier: GPL-2.0-or-later
/* The programs for kernels from 5.10 on: see kernel.bpf.h. */
#define PROFTRACE_BASIC
#include "proftrace.bpf.c"
