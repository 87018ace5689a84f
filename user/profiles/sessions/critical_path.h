/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chain of running and waiting that a session's duration consists of. */
#ifndef PROFTRACE_SESSIONS_CRITICAL_PATH_H
#define PROFTRACE_SESSIONS_CRITICAL_PATH_H

struct session;
struct sessions;
struct thread_calls;
struct waits;

/*
 * Fills in the chain of a kept session. Backwards from the session's end: where its thread ran,
 * each call that was the innermost one is a part, but short ones that follow each other are one, of
 * the function that has most of it; where the thread waited and it is known who has woken it, what
 * that thread did meanwhile, from there on backwards likewise; else the wait itself. `held` has the
 * calls of all threads while the session lasted. Parts add up to the session's duration; of more
 * than a few thousand small ones are counted to those beside them. Returns 0 or -ENOMEM.
 */
int critical_path__find(const struct sessions *s, const struct waits *w,
			const struct thread_calls *held, struct session *session);

#endif
