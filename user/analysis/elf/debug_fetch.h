/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from the servers that DEBUGINFOD_URLS names. They are fetched by a process without
 * privileges, as the user who called sudo (else as nobody), into that user's usual cache, and
 * handed over by descriptor: what comes is a stranger's file like any other. There is one such
 * process, hence no handle; without the variable there is none, and nothing is fetched.
 */
#ifndef PROFTRACE_ELF_DEBUG_FETCH_H
#define PROFTRACE_ELF_DEBUG_FETCH_H

#include <stddef.h>
#include <stdint.h>

/* Makes the process: while we may still become another user, and before anything of a stranger's is
 * read. A failure is a warning. */
void debug_fetch__start(void);

/*
 * Asks for the debug file of the object with this build id, which messages call `label`. Waits for
 * two minutes at most (DEBUGINFOD_MAXTIME seconds, if that is set), ten seconds for the first byte
 * (DEBUGINFOD_TIMEOUT), and says so if it takes long. Returns a descriptor, which the
 * caller closes; -ENOENT if there is none, said once for each id as a warning.
 */
int debug_fetch__get(const uint8_t *id, size_t len, const char *label);

/* The file that was fetched for this id is of no use: from now on there is none. */
void debug_fetch__reject(const uint8_t *id, size_t len);

/* Ends the process. Files that have been fetched can still be had. */
void debug_fetch__stop(void);

#endif
