// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/fold.h"
#include "util/hash.h"
#include "util/text.h"

#define LINE_SIZE 2048
#define ONCE_MAX  64 /* lines that are known to have been logged */

static enum log_level max_level = LOG_INFO;
static bool error_told, status_line;
static void (*diverted)(enum log_level level, const char *line);

/* Hashes of lines that log_once() has logged. */
static uint64_t once[ONCE_MAX];
static size_t once_cnt;

void log_set_level(enum log_level level)
{
	max_level = level;
}

void log_divert(void (*take)(enum log_level level, const char *line))
{
	diverted = take;
}

void log_status_line(bool stands)
{
	status_line = stands;
}

/* On a terminal a line that is too long for it is folded between words. */
static void show(const char *line)
{
	size_t columns = isatty(STDERR_FILENO) ? fold__columns(STDERR_FILENO) : 0;
	FILE *folded;

	if (status_line)
		fputs("\r\033[K", stderr);
	status_line = false;
	if (!columns || fold__open(stderr, columns, &folded)) {
		fprintf(stderr, "proftrace: %s\n", line);
		return;
	}
	fprintf(folded, "proftrace: %s\n", line);
	fclose(folded);
}

static void log_line(enum log_level level, const char *line)
{
	char safe[4096];

	error_told |= level == LOG_ERROR;
	text_escape(line, safe, sizeof(safe));
	if (diverted)
		diverted(level, safe);
	else
		show(safe);
}

/* Whether log_once() has logged the line. From now on it has, if there is room to know of it. */
static bool is_known(const char *line)
{
	uint64_t hash = hash__text(line);

	for (size_t i = 0; i < once_cnt; i++) {
		if (once[i] == hash)
			return true;
	}
	if (once_cnt < ONCE_MAX)
		once[once_cnt++] = hash;
	return false;
}

/* `first_only`: not if log_once() has logged that line. */
__attribute__((format(printf, 3, 0))) static void log_args(enum log_level level, bool first_only,
							   const char *fmt, va_list args)
{
	char line[LINE_SIZE];

	if (level > max_level)
		return;
	vsnprintf(line, sizeof(line), fmt, args);
	if (!first_only || !is_known(line))
		log_line(level, line);
}

void log_at(enum log_level level, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_args(level, false, fmt, args);
	va_end(args);
}

void log_once(enum log_level level, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_args(level, true, fmt, args);
	va_end(args);
}

void log_unexplained(int err)
{
	log_no_memory(err);
	if (err < 0 && err != -EPIPE && !error_told)
		log_error("cannot go on: %s (-v may tell more)", strerror(-err));
}

void log_no_memory(int err)
{
	if (err == -ENOMEM && !error_told)
		log_error("out of memory; a limit may be too low: see ulimit -d and ulimit -v");
}
