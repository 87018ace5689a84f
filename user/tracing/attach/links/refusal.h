/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the kernel refuses our programs: what libbpf has said about it. */
#ifndef PROFTRACE_ATTACH_LINKS_REFUSAL_H
#define PROFTRACE_ATTACH_LINKS_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/* From here on libbpf's messages are listened to, and logged for the verbose. */
void refusal__listen(void);

/* Forgets what was said: another load begins. */
void refusal__forget(void);

/* The reason in a line, as of the last load: what the verifier objected to, else libbpf's first
 * message. NULL: nothing was said. */
const char *refusal__reason(void);

/*
 * The objection in a log of the kernel's verifier: its last line but for figures. Writes it to
 * `out` and returns true, or returns false if there is none.
 */
bool refusal__objection(const char *log, char *out, size_t size);

#endif
