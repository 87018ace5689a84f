// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/usdt_pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "select/filter.h"
#include "symbol/usdt.h"
#include "util/log.h"

#define ARROW "->"

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* Length of the text without the blanks at its end. */
static size_t trimmed(const char *text, size_t len)
{
	while (len && strchr(" \t", text[len - 1]))
		len--;
	return len;
}

/* One [OBJECT:]PROVIDER:NAME. Returns 0, -EINVAL, or -ENOMEM. */
static int parse_probe(const char *text, size_t len, char **object, char **provider, char **name)
{
	const char *first, *second;

	text = skip_blanks(text);
	first = memchr(text, ':', len);
	if (!first)
		return -EINVAL;
	second = memchr(first + 1, ':', text + len - first - 1);
	if (second && object) {
		*object = strndup(text, first - text);
		if (!*object)
			return -ENOMEM;
		len -= first + 1 - text;
		text = first + 1;
		first = second;
	}
	*provider = strndup(text, first - text);
	*name = strndup(first + 1, text + len - first - 1);
	if (!*provider || !*name)
		return -ENOMEM;
	return **provider && **name && !(object && *object && !**object) ? 0 : -EINVAL;
}

static int parse(struct usdt_pattern *p, const char *text)
{
	const char *arrow = strstr(text, ARROW), *begin = skip_blanks(text), *end;
	int err;

	p->text = text;
	err = parse_probe(begin, trimmed(begin, arrow ? (size_t)(arrow - begin) : strlen(begin)),
			  &p->object, &p->provider, &p->name);
	if (err || !arrow)
		return err;
	end = skip_blanks(arrow + strlen(ARROW));
	return parse_probe(end, trimmed(end, strlen(end)), NULL, &p->end_provider, &p->end_name);
}

int usdt_patterns__parse(struct usdt_patterns *u, char *const *texts, size_t cnt)
{
	int err = 0;

	*u = (struct usdt_patterns){.items = calloc(cnt + 1, sizeof(*u->items))};
	if (!u->items)
		return -ENOMEM;
	for (; !err && u->cnt < cnt; u->cnt++) {
		err = parse(&u->items[u->cnt], texts[u->cnt]);
		if (err == -EINVAL)
			log_error("--usdt '%s': [OBJECT:]PROVIDER:NAME is expected, or two of them "
				  "with '->' between",
				  texts[u->cnt]);
	}
	if (err)
		usdt_patterns__clear(u);
	return err;
}

void usdt_patterns__clear(struct usdt_patterns *u)
{
	for (size_t i = 0; i < u->cnt; i++) {
		struct usdt_pattern *p = &u->items[i];

		free(p->object);
		free(p->provider);
		free(p->name);
		free(p->end_provider);
		free(p->end_name);
	}
	free(u->items);
	*u = (struct usdt_patterns){0};
}

static bool matches(const char *glob, const char *name)
{
	return !strcmp(glob, name) || !fnmatch(glob, name, 0);
}

const struct usdt_pattern *usdt_patterns__match(struct usdt_patterns *u,
						const struct filter_object *obj,
						const struct usdt_probe *probe,
						enum probe_role *role)
{
	struct usdt_pattern *found = NULL;

	for (size_t i = 0; u && i < u->cnt; i++) {
		struct usdt_pattern *p = &u->items[i];
		const struct filter_pattern object = {.object = p->object};
		bool begins, ends;

		if (p->object && !filter_pattern__names(&object, obj))
			continue;
		begins = matches(p->provider, probe->provider) && matches(p->name, probe->name);
		ends = p->end_name && matches(p->end_provider, probe->provider) &&
		       matches(p->end_name, probe->name);
		p->matched |= begins;
		p->end_matched |= ends;
		if ((!begins && !ends) || found)
			continue;
		found = p;
		*role = !p->end_name ? PROBE_MARK : begins ? PROBE_BEGIN : PROBE_END;
	}
	return found;
}
