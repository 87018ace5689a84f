/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_SYMBOL_SYSTEM_CALLS_H
#define PROFTRACE_SYMBOL_SYSTEM_CALLS_H

#include <stdint.h>

/* The name of a system call of this machine in brackets, "[futex]"; "[system call]" if it is newer
 * than the headers that this was built with. */
const char *system_call__name(uint32_t number);
/* The name of an error in brackets, "[ENOENT]"; by its number, or, from WIRE_ERRORS_KERNEL on, what
 * the kernel's own ones are. "[error]": any other. */
const char *system_call__error_name(uint32_t number);
/* Why a thread waits in it: enum wire_reason, or what else of it tells (WIRE_CALL_*). */
uint8_t system_call__reason(uint32_t number);

/* The argument of the call that is a descriptor: enum wire_call_file. */
uint8_t system_call__file(uint32_t number);

/* "[lock]" and so on, of an enum wire_reason. */
const char *wait_reason__name(uint32_t reason);

#endif
