/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doctor's checks of files, clocks and libraries: all but the kernel's programs. */
#ifndef PROFTRACE_CMD_DOCTOR_NEEDS_H
#define PROFTRACE_CMD_DOCTOR_NEEDS_H

#include <stdbool.h>

/* Something that works on this machine, or does not. */
struct feature {
	const char *name;
	const char *without; /* what its absence means */
	const char *advice;  /* what to do about that */
	bool works;
	char why[256]; /* it does not; empty: there is nothing more to say */
};

#define DOCTOR_NEEDS 7

/* Before privileges are given up, which decide some of it. */
void doctor_needs__examine(struct feature needs[DOCTOR_NEEDS]);

#endif
