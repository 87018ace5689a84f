// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of output formats. A sink gets the whole profile at once and writes it to a stream:
 * everything about a format is in its own file.
 */
#include "sink/sink.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "calls/estimate.h"
#include "calls/profile.h"

static const struct sink *const sinks[] = {
	/* clang-format off */
	&sink_tree,
	&sink_flat,
	&sink_lines,
	&sink_folded,
	&sink_locks,
	&sink_svg,
	&sink_json,
	&sink_speedscope,
	&sink_pprof,
	&sink_callgrind,
	&sink_csv,
	&sink_sqlite,
	&sink_chrome,
	&sink_perfetto,
	&sink_firefox,
	&sink_html,
	&sink_openmetrics,
	/* clang-format on */
};

enum weight sink__weight(const struct sink_options *opts, const struct profile *p)
{
	bool told = p->sample_period_ns && p->accounting.cpu_ns >= estimate__chance_ns(p);

	return !opts->weight_chosen && told ? WEIGHT_CPU : opts->weight;
}

const struct sink *sink__at(size_t index)
{
	return index < sizeof(sinks) / sizeof(sinks[0]) ? sinks[index] : NULL;
}

const struct sink *sink__find(const char *name)
{
	const struct sink *s;
	size_t i;

	for (i = 0; (s = sink__at(i)); i++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

static bool ends_with(const char *path, const char *suffix)
{
	char pattern[64];

	snprintf(pattern, sizeof(pattern), "*%s", suffix);
	return !fnmatch(pattern, path, 0);
}

const struct sink *sink__for_file(const char *path)
{
	const struct sink *s, *best = NULL;
	const char *const *suffix;
	size_t i, longest = 0;

	for (i = 0; (s = sink__at(i)); i++) {
		for (suffix = s->suffixes; suffix && *suffix; suffix++) {
			if (strlen(*suffix) > longest && ends_with(path, *suffix)) {
				longest = strlen(*suffix);
				best = s;
			}
		}
	}
	return best;
}

static bool is_any(const struct sink *s)
{
	return true;
}

static bool shows_diffs(const struct sink *s)
{
	return s->write_diff;
}

static bool shows_values(const struct sink *s)
{
	return s->shows_values;
}

static char *list_names(char *buf, size_t size, bool (*listed)(const struct sink *))
{
	const struct sink *s;
	size_t len = 0, i;

	*buf = '\0';
	for (i = 0; (s = sink__at(i)) && len < size; i++) {
		if (listed(s))
			len += snprintf(buf + len, size - len, "%s%s", len ? ", " : "", s->name);
	}
	return buf;
}

char *sink__names(char *buf, size_t size)
{
	return list_names(buf, size, is_any);
}

char *sink__diff_names(char *buf, size_t size)
{
	return list_names(buf, size, shows_diffs);
}

char *sink__value_names(char *buf, size_t size)
{
	return list_names(buf, size, shows_values);
}
