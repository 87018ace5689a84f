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

static struct refusal said;

/* A line that the verbose are shown; what has no room is left out. */
static void keep_line(const char *kind, const char *line, size_t len)
{
	size_t used = strlen(said.lines);

	log_debug("%s%.*s", kind, (int)len, line);
	snprintf(said.lines + used, sizeof(said.lines) - used, "%s%.*s\n", kind, (int)len, line);
}

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

		keep_line("verifier: ", from, len);
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
		refusal__objection(log, said.objection, sizeof(said.objection));
	} else {
		text[strcspn(text, "\n")] = '\0';
		keep_line("", text, strlen(text));
		if (!said.first_said[0])
			snprintf(said.first_said, sizeof(said.first_said), "%s", text);
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
	said = (struct refusal){0};
}

const char *refusal__reason(void)
{
	return said.objection[0] ? said.objection : said.first_said[0] ? said.first_said : NULL;
}

void refusal__get(struct refusal *out)
{
	*out = said;
}

void refusal__put(struct refusal *r)
{
	char *line, *rest;

	r->first_said[sizeof(r->first_said) - 1] = '\0';
	r->objection[sizeof(r->objection) - 1] = '\0';
	r->lines[sizeof(r->lines) - 1] = '\0';
	said = *r;
	for (line = strtok_r(r->lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		log_debug("%s", line);
}
