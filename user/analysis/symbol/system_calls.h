/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_SYMBOL_SYSTEM_CALLS_H
#define PROFTRACE_SYMBOL_SYSTEM_CALLS_H

#include <stdint.h>

/* The name of a system call of this machine in brackets, "[futex]"; "[system call]" if it is newer
 * than the headers that this was built with. */
const char *system_call__name(uint32_t number);

#endif
