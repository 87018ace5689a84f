// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/system_calls.h"

#include <stddef.h>
#include <sys/syscall.h>

/* The build lists them: [__NR_read] = "[read]", and so on. */
static const char *const names[] = {
#include "system_calls.inc"
};

const char *system_call__name(uint32_t number)
{
	if (number >= sizeof(names) / sizeof(names[0]) || !names[number])
		return "[system call]";
	return names[number];
}
