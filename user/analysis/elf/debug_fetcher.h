/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that fetches. Inside elf/ only, for debug_fetch.c. */
#ifndef PROFTRACE_ELF_DEBUG_FETCHER_H
#define PROFTRACE_ELF_DEBUG_FETCHER_H

#include <stdint.h>

#include "elf/debug_fetch.h"

struct fetch_request {
	uint32_t len;
	uint8_t id[DEBUG_FETCH_MAX_ID];
};

/* With the descriptor beside it, if err is 0. */
struct fetch_reply {
	int32_t err;	/* an errno; ELIBACC: there is no libdebuginfod */
	char text[128]; /* what the library's loader says then */
};

/* Seconds that one file may take. */
unsigned int debug_fetcher__seconds(void);

/* The process, from its fork on: answers requests from `socket` until that is closed. */
_Noreturn void debug_fetcher__run(int socket);

#endif
