/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that fetches. Inside elf/ only, for debug_fetch.c. */
#ifndef PROFTRACE_ELF_DEBUG_FETCHER_H
#define PROFTRACE_ELF_DEBUG_FETCHER_H

/* Seconds that one file may take. */
unsigned int debug_fetcher__seconds(void);

/* The process, from its fork on: answers requests from `socket` until that is closed. */
_Noreturn void debug_fetcher__run(int socket);

#endif
