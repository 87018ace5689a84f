// SPDX-License-Identifier: GPL-2.0-or-later
#include "select/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"
#include "symbol/symtab.h"
#include "util/glob.h"

int filter_pattern__parse(struct filter_pattern *p, const char *text)
{
	const char *colon = glob__object_end(text);

	*p = (struct filter_pattern){0};
	p->region = glob__is_region(text);
	if (p->region) {
		text = colon + 1;
	} else if (colon) {
		p->object = strndup(text, colon - text);
		if (!p->object)
			return -ENOMEM;
		text = colon + 1;
	}
	p->func = strdup(*text ? text : "*");
	if (!p->func)
		return -ENOMEM;
	p->demangled = strcmp(p->func, "*") != 0;
	return 0;
}

static int patterns_parse(struct filter_pattern **list, size_t *len, char *const *texts, size_t cnt)
{
	if (!cnt)
		return 0;
	*list = calloc(cnt, sizeof(**list));
	if (!*list)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		(*len)++;
		if (filter_pattern__parse(&(*list)[i], texts[i]))
			return -ENOMEM;
	}
	return 0;
}

void filter_pattern__clear(struct filter_pattern *p)
{
	free(p->object);
	free(p->func);
	*p = (struct filter_pattern){0};
}

static void patterns_free(struct filter_pattern *list, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		filter_pattern__clear(&list[i]);
	free(list);
}

int filter__init(struct filter *f, char *const *in, size_t in_cnt, char *const *out, size_t out_cnt)
{
	int err;

	*f = (struct filter){0};
	err = patterns_parse(&f->in, &f->in_cnt, in, in_cnt);
	if (!err)
		err = patterns_parse(&f->out, &f->out_cnt, out, out_cnt);
	f->defaults = !in_cnt;
	if (err)
		filter__clear(f);
	return err;
}

void filter__clear(struct filter *f)
{
	patterns_free(f->in, f->in_cnt);
	patterns_free(f->out, f->out_cnt);
	*f = (struct filter){0};
}

/* Compares the demangled form of a raw name, if it has one. */
static bool demangled_matches(const struct filter_pattern *p, const char *name)
{
	char *demangled = p->demangled ? demangle(name) : NULL;
	bool match = demangled && glob__matches_function(p->func, demangled);

	free(demangled);
	return match;
}

bool filter_pattern__matches_name(const struct filter_pattern *p, const char *name)
{
	return glob__matches_function(p->func, name) || demangled_matches(p, name);
}

static bool symbol_matches(const struct filter_pattern *p, const struct symbol *sym)
{
	if (filter_pattern__matches_name(p, sym->name))
		return true;
	for (size_t i = 0; i < sym->aliases_cnt; i++) {
		if (filter_pattern__matches_name(p, sym->aliases[i]))
			return true;
	}
	return false;
}

bool filter_pattern__names(const struct filter_pattern *p, const struct filter_object *obj)
{
	if (!p->object)
		return false;
	return glob__matches_object(p->object, obj->path) ||
	       (obj->soname[0] && glob__matches_object(p->object, obj->soname));
}

bool filter_pattern__matches(const struct filter_pattern *p, const struct filter_object *obj,
			     const struct symbol *sym)
{
	return !p->region && (!p->object || filter_pattern__names(p, obj)) &&
	       symbol_matches(p, sym);
}

bool filter_pattern__matches_region(const struct filter_pattern *p, const char *name)
{
	return p->region && glob__matches_function(p->func, name);
}

bool filter__wants_libraries(const struct filter *f)
{
	for (size_t i = 0; i < f->in_cnt; i++) {
		if (f->in[i].object)
			return true;
	}
	return false;
}

bool filter__wants_object(const struct filter *f, const struct filter_object *obj)
{
	if (f->defaults && obj->is_main)
		return true;
	for (size_t i = 0; i < f->in_cnt; i++) {
		const struct filter_pattern *p = &f->in[i];

		if (p->region)
			continue;
		if (p->object ? filter_pattern__names(p, obj) : obj->is_main)
			return true;
	}
	return false;
}

bool filter__wants_regions(const struct filter *f)
{
	for (size_t i = 0; i < f->in_cnt; i++) {
		if (f->in[i].region)
			return true;
	}
	return f->defaults;
}

bool filter__leaves_region(struct filter *f, const char *name)
{
	bool left = false;

	for (size_t i = 0; i < f->out_cnt; i++) {
		if (filter_pattern__matches_region(&f->out[i], name))
			left = f->out[i].matched = true;
	}
	return left;
}

bool filter__wants_region(struct filter *f, const char *name)
{
	bool wanted = f->defaults;

	for (size_t i = 0; i < f->in_cnt; i++) {
		if (filter_pattern__matches_region(&f->in[i], name))
			wanted = f->in[i].matched = true;
	}
	return wanted && !filter__leaves_region(f, name);
}

bool filter__wants(struct filter *f, const struct filter_object *obj, const struct symbol *sym)
{
	bool wanted = f->defaults && obj->is_main;

	/* All patterns are tried: each shall know whether it matches anything. */
	for (size_t i = 0; i < f->in_cnt; i++) {
		struct filter_pattern *p = &f->in[i];

		if ((p->object || obj->is_main) && filter_pattern__matches(p, obj, sym))
			wanted = p->matched = true;
	}
	if (!wanted)
		return false;
	for (size_t i = 0; i < f->out_cnt; i++) {
		struct filter_pattern *p = &f->out[i];

		if (filter_pattern__matches(p, obj, sym)) {
			p->matched = true;
			wanted = false;
		}
	}
	return wanted;
}
