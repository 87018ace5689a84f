/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages to the person at the terminal: always stderr, one line each, prefixed "proftrace: ".
 * stdout carries results only. The function that finds an error prints it; callers pass it on.
 */
#ifndef PROFTRACE_UTIL_LOG_H
#define PROFTRACE_UTIL_LOG_H

#include <stdbool.h>

enum log_level {
	LOG_ERROR, /* always shown */
	LOG_WARN,  /* what is degraded; hidden by -q */
	LOG_INFO,  /* what a user may want to know once; hidden by -q */
	LOG_DEBUG, /* -v */
};

void log_set_level(enum log_level level);

/* Lines go to `take` in place of stderr, escaped and without a prefix; NULL: to stderr again. */
void log_divert(void (*take)(enum log_level level, const char *line));

/* A line without an end, which is written over again and again, stands on the terminal of stderr,
 * or does not any more: the next message clears it first. */
void log_status_line(bool stands);

/* Prints one line; control characters in it are escaped. */
void log_at(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints a line that has not been printed by this function before: for what is found again each
 * time that a file is read. After 64 different lines it prints all. */
void log_once(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The message for -ENOMEM, which those that find it leave out; none if an error was told before, or
 * if `err` is another one. */
void log_no_memory(int err);

/* Logs an error, below 0, of which nobody has told why; not -EPIPE, as whoever reads has gone. */
void log_unexplained(int err);

#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)

#endif
