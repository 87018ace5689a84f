// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libbpf reports errors as messages. When the kernel's verifier refuses a program, one of them
 * holds its log, thousands of lines of which the last few say why.
 */
#include "attach/links/refusal.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"

#define LOG_BEGINS  "-- BEGIN PROG LOAD LOG --\n"
#define LOG_ENDS    "-- END PROG LOAD LOG --"
#define SHOWN_LINES 12 /* of a verifier's log, for the verbose */

static char first_said[512], objection[512];

/* Figures that the verifier ends its log with. */
static bool is_figure(const char *line)
{
	static const char *const figures[] = {"processed ", "verification time ", "stack depth ",
					      LOG_ENDS};

	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		if (!strncmp(line, figures[i], strlen(figures[i])))
			return true;
	return false;
}

/* The line that ends before `end`. */
static const char *line_before(const char *text, const char *end)
{
	while (end > text && end[-1] != '\n')
		end--;
	return end;
}

bool refusal__objection(const char *log, char *out, size_t size)
{
	const char *end = strstr(log, LOG_ENDS), *line;

	for (end = end ? end : log + strlen(log); end > log; end = line - 1) {
		size_t len;

		line = line_before(log, end);
		len = end - line;
		if (len && !is_figure(line)) {
			snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), line);
			return true;
		}
		if (line == log)
			break;
	}
	return false;
}

/* The end of a verifier's log. */
static void show_log(const char *log)
{
	const char *end = strstr(log, LOG_ENDS), *from;

	end = end ? end : log + strlen(log);
	from = end;
	for (int i = 0; i <= SHOWN_LINES && from > log; i++)
		from = line_before(log, from - 1);
	while (from < end) {
		size_t len = strcspn(from, "\n");

		log_debug("verifier: %.*s", (int)len, from);
		from += len + (from[len] == '\n');
	}
}

static int message(enum libbpf_print_level level, const char *fmt, va_list args)
{
	char *text = NULL, *log;

	if (level == LIBBPF_DEBUG || vasprintf(&text, fmt, args) < 0)
		return 0;
	log = strstr(text, LOG_BEGINS);
	if (log) {
		log += strlen(LOG_BEGINS);
		show_log(log);
		refusal__objection(log, objection, sizeof(objection));
	} else {
		text[strcspn(text, "\n")] = '\0';
		log_debug("%s", text);
		if (!first_said[0])
			snprintf(first_said, sizeof(first_said), "%s", text);
	}
	free(text);
	return 0;
}

void refusal__listen(void)
{
	libbpf_set_print(message);
}

void refusal__forget(void)
{
	first_said[0] = objection[0] = '\0';
}

const char *refusal__reason(void)
{
	return objection[0] ? objection : first_said[0] ? first_said : NULL;
}
