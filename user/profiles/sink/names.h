/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of threads, functions and targets, for all formats. Nothing is escaped: that is each
 * format's. Example: "redis-server-28724/28724". */
#ifndef PROFTRACE_SINK_NAMES_H
#define PROFTRACE_SINK_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_function;
struct profile_target;
struct profile_thread;

#define THREAD_NAME_LEN 96 /* room for any thread's */
#define SPANS_OF	"spans of "

/* "comm-pid/tid", or "comm-pid/goroutine_N", in `buf`, which it returns; "+stack" behind it:
 * another stack than the thread's own; "spans of " before it: what lies beside its calls. Or its
 * title, if it has one. */
char *thread__name(const struct profile_thread *t, char buf[THREAD_NAME_LEN]);

/* "comm-pid", for all threads of that name in its process, in `buf`, which it returns. */
char *process__name(const struct profile_thread *t, char buf[THREAD_NAME_LEN]);

/* The number by which a process knows it: a goroutine is on no thread for long. */
uint64_t thread__number(const struct profile_thread *t);

/* Its name, or what stands for it where a frame must have one. */
const char *function__name(const struct profile_function *f);

/* The command with its arguments, or the file, or "PID 1, 2", as far as `buf` has room for it. */
char *target__name(const struct profile_target *t, char *buf, size_t size);

/* target__name() for people: of processes that were given by their numbers with the name before
 * these that all of them have, "nginx, PID 1, 2". */
char *profile__title(const struct profile *p, char *buf, size_t size);

#define SERVICE_NAME 64

/* Names what the profile is of, where nobody says it: the file, the command, or the first thread
 * that has its process's number, without folders and arguments: "nginx"; "unknown". In `buf`, which
 * it returns. */
char *service__name(const struct profile *p, char buf[SERVICE_NAME]);

#endif
