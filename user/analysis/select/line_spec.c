// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/line_spec.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"

/* A line's number at `text`; *end is what is behind it. 0: there is none. */
static uint32_t parse_number(const char *text, const char **end)
{
	unsigned long value;
	char *behind;

	*end = text;
	if (!isdigit((unsigned char)*text))
		return 0;
	errno = 0;
	value = strtoul(text, &behind, 10);
	*end = behind;
	return errno || value > INT32_MAX ? 0 : value;
}

/* The text behind the last colon if it can be lines only: it begins with a digit, as no function's
 * name does. */
static const char *lines_part(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && colon > text && isdigit((unsigned char)colon[1]) ? colon + 1 : NULL;
}

static int parse_lines(struct line_spec *s, const char *lines)
{
	const char *name = s->text, *end;

	s->from = s->to = parse_number(lines, &end);
	if (*end == '-')
		s->to = parse_number(end + 1, &end);
	if (*end || !s->from || !s->to) {
		log_error("--lines '%s': FILE:LINE or FILE:FROM-TO is needed", s->text);
		return -EINVAL;
	}
	if (s->to < s->from) {
		log_error("--lines '%s': ends before it begins", s->text);
		return -EINVAL;
	}
	while (!strncmp(name, "./", 2))
		name += 2;
	s->file = strndup(name, lines - 1 - name);
	return s->file ? 0 : -ENOMEM;
}

int line_specs__parse(struct line_specs *s, char *const *texts, size_t cnt)
{
	int err = 0;

	*s = (struct line_specs){0};
	if (!cnt)
		return 0;
	s->items = calloc(cnt, sizeof(*s->items));
	if (!s->items)
		return -ENOMEM;
	for (; !err && s->cnt < cnt; s->cnt++) {
		struct line_spec *spec = &s->items[s->cnt];
		const char *lines = lines_part(texts[s->cnt]);

		spec->text = texts[s->cnt];
		if (lines) {
			err = parse_lines(spec, lines);
		} else if (!*spec->text || spec->text[strlen(spec->text) - 1] == ':') {
			log_error("--lines '%s': FUNC, FILE:LINE or FILE:FROM-TO is needed",
				  spec->text);
			err = -EINVAL;
		} else {
			err = filter_pattern__parse(&spec->pattern, spec->text);
		}
	}
	if (err)
		line_specs__clear(s);
	return err;
}

void line_specs__clear(struct line_specs *s)
{
	for (size_t i = 0; i < s->cnt; i++) {
		free(s->items[i].file);
		filter_pattern__clear(&s->items[i].pattern);
	}
	free(s->items);
	*s = (struct line_specs){0};
}

/* The end of the path that has as many slashes; NULL: it has fewer. */
static const char *same_depth(const char *path, const char *pattern)
{
	const char *end = path + strlen(path);
	size_t slashes = 0;

	for (const char *c = pattern; *c; c++)
		slashes += *c == '/';
	for (;; end--) {
		if (end > path && end[-1] == '/' && !slashes--)
			return end;
		if (end == path)
			return slashes ? NULL : path;
	}
}

bool line_spec__names_file(const struct line_spec *s, const char *path)
{
	const char *end;

	if (!s->file)
		return false;
	if (*s->file == '/')
		return !strcmp(s->file, path) || !fnmatch(s->file, path, FNM_PATHNAME);
	end = same_depth(path, s->file);
	return end && (!strcmp(s->file, end) || !fnmatch(s->file, end, FNM_PATHNAME));
}

bool line_specs__name_object(const struct line_specs *s, const struct filter_object *obj)
{
	for (size_t i = 0; i < s->cnt; i++) {
		const struct filter_pattern *p = &s->items[i].pattern;

		if (!s->items[i].file && (p->object ? filter_pattern__names(p, obj) : obj->is_main))
			return true;
	}
	return false;
}

bool line_specs__name_libraries(const struct line_specs *s)
{
	for (size_t i = 0; i < s->cnt; i++) {
		if (s->items[i].pattern.object)
			return true;
	}
	return false;
}

bool line_specs__name_files(const struct line_specs *s)
{
	for (size_t i = 0; i < s->cnt; i++) {
		if (s->items[i].file)
			return true;
	}
	return false;
}

static bool names_function(const struct line_spec *s, const struct filter_object *obj,
			   const struct symbol *sym)
{
	return !s->file && (s->pattern.object || obj->is_main) &&
	       filter_pattern__matches(&s->pattern, obj, sym);
}

bool line_specs__name_function(struct line_specs *s, const struct filter_object *obj,
			       const struct symbol *sym)
{
	bool named = false;

	for (size_t i = 0; i < s->cnt; i++) {
		if (names_function(&s->items[i], obj, sym))
			named = s->items[i].pattern.matched = true;
	}
	return named;
}

void line_specs__note_function(struct line_specs *s, const struct filter_object *obj,
			       const struct symbol *sym)
{
	for (size_t i = 0; i < s->cnt; i++) {
		if (names_function(&s->items[i], obj, sym))
			s->items[i].found = true;
	}
}

bool line_specs__name_line(struct line_specs *s, const char *file, uint32_t line)
{
	bool named = false;

	for (size_t i = 0; i < s->cnt; i++) {
		struct line_spec *spec = &s->items[i];

		if (line >= spec->from && line <= spec->to && line_spec__names_file(spec, file))
			named = spec->found = true;
	}
	return named;
}
