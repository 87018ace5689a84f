// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/sources.h"

#include <errno.h>
#include <string.h>

#include "security/source_text.h"

static const char *reason(int err)
{
	switch (err) {
	case 0:
		return NULL;
	case -EACCES:
	case -EPERM:
		return "not readable for everyone";
	case -EFBIG:
		return "too large";
	case -EINVAL:
		return "no regular file with a full path";
	case -ENOENT:
	case -ENOTDIR:
		return "not found";
	default:
		return strerror(-err);
	}
}

const struct source_text *sources__get(struct sources *s, const char *path, const char **why)
{
	size_t i;

	for (i = 0; i < SOURCES_KEPT; i++) {
		if (s->items[i].path && !strcmp(s->items[i].path, path))
			break;
	}
	if (i == SOURCES_KEPT) {
		i = s->next++ % SOURCES_KEPT;
		source_text__free(s->items[i].text);
		s->items[i].text = NULL;
		s->items[i].path = path;
		s->items[i].err = source_text__open(path, s->by_root, &s->items[i].text);
	}
	*why = reason(s->items[i].err);
	return s->items[i].text;
}

void sources__clear(struct sources *s)
{
	for (size_t i = 0; i < SOURCES_KEPT; i++)
		source_text__free(s->items[i].text);
	*s = (struct sources){0};
}
