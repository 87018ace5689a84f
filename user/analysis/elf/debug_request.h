/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages between debug_fetch.c and the process that fetches. Inside elf/ only. */
#ifndef PROFTRACE_ELF_DEBUG_REQUEST_H
#define PROFTRACE_ELF_DEBUG_REQUEST_H

#include <stdint.h>

#define DEBUG_FETCH_MAX_ID 64 /* bytes of a build id */

struct fetch_request {
	uint32_t len;
	uint8_t id[DEBUG_FETCH_MAX_ID];
};

/* With the descriptor beside it, if err is 0. */
struct fetch_reply {
	int32_t err;	/* an errno; ELIBACC: there is no libdebuginfod */
	char text[128]; /* what the library's loader says then */
};

#endif
