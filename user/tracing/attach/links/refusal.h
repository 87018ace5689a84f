/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the kernel refuses our programs: what libbpf has said about it. */
#ifndef PROFTRACE_ATTACH_LINKS_REFUSAL_H
#define PROFTRACE_ATTACH_LINKS_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/* From here on libbpf's messages are listened to, and kept. */
void refusal__listen(void);

/* Forgets what was said: another load begins. */
void refusal__forget(void);

/* The reason in a line, as of the last load: what the verifier objected to, else libbpf's first
 * message. NULL: nothing was said. */
const char *refusal__reason(void);

/* The log of a load, as it goes from the link holder, which loads, to the run. */
struct refusal {
	char first_said[512], objection[512];
	char lines[4096]; /* for the verbose */
};

/* Since it was last forgotten. */
void refusal__get(struct refusal *out);
/* Takes it for what was said here, and logs it for the verbose. */
void refusal__put(struct refusal *r);

/*
 * The objection in a log of the kernel's verifier: its last line but for figures. Writes it to
 * `out` and returns true, or returns false if there is none.
 */
bool refusal__objection(const char *log, char *out, size_t size);

#endif
