// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that no pattern names have no symbols loaded. For a message about them their own tables are
 * read, for that moment: whoever reads "no function matches 'malloc'" wants to know where malloc
 * is.
 */
#include "planner/other_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/object.h"
#include "plan/plan.h"
#include "select/filter.h"
#include "select/nearest.h"
#include "symbol/demangle.h"
#include "util/cxx_name.h"
#include "symbol/symtab.h"
#include "target/package.h"
#include "target/target.h"
#include "util/log.h"
#include "util/text.h"

#define FILES_MAX 3 /* that are named */

typedef void found_fn(void *ctx, const char *object, const struct symbol *sym);

static void for_each_of(const struct symtab *tab, const char *object, found_fn *found, void *ctx)
{
	for (size_t i = 0; i < symtab__count(tab); i++) {
		if (symtab__at(tab, i)->kind != SYMBOL_NOTYPE)
			found(ctx, object, symtab__at(tab, i));
	}
}

/* Calls `found` for each function of each file whose symbols are not loaded, and with `all` of
 * those whose symbols are, but for the program. */
static void for_each_other(const struct plan *p, const struct target *t, bool all, found_fn *found,
			   void *ctx)
{
	for (size_t i = 0; i < p->objects_cnt; i++) {
		const struct plan_object *obj = &p->objects[i];
		const char *object = path_base(t->objects[i].path);
		struct symtab *tab;

		if (!obj->img || t->objects[i].is_main || t->objects[i].barred)
			continue;
		if (obj->tab && all)
			for_each_of(obj->tab, object, found, ctx);
		if (obj->tab || symtab__load_named(obj->img, &tab))
			continue;
		for_each_of(tab, object, found, ctx);
		symtab__free(tab);
	}
}

struct search {
	const struct filter_pattern *pattern;
	size_t functions;
	const char *files[FILES_MAX];
	size_t files_cnt; /* may be more */
	const char *last;
};

static void match(void *ctx, const char *object, const struct symbol *sym)
{
	const struct filter_object obj = {object, "", false};
	struct search *s = ctx;

	if (!filter_pattern__matches(s->pattern, &obj, sym))
		return;
	s->functions++;
	if (s->last && !strcmp(s->last, object))
		return;
	s->last = object;
	if (s->files_cnt < FILES_MAX)
		s->files[s->files_cnt] = object;
	s->files_cnt++;
}

/* "libc.so.6", "liba.so and libb.so", "liba.so, libb.so, libc.so and 2 more". */
static size_t list_files(const struct search *s, char *buf, size_t size)
{
	size_t shown = s->files_cnt < FILES_MAX ? s->files_cnt : FILES_MAX, len = 0;

	for (size_t i = 0; i < shown && len < size; i++) {
		bool last = i && i + 1 == s->files_cnt;

		len += snprintf(buf + len, size - len, "%s%s",
				last ? " and "
				: i  ? ", "
				     : "",
				s->files[i]);
	}
	if (s->files_cnt > shown && len < size)
		len += snprintf(buf + len, size - len, " and %zu more", s->files_cnt - shown);
	return len;
}

/* Looks for functions that match, in whatever file, or if the pattern names files in others than
 * these. */
static int search(struct search *s, struct filter_pattern *pattern, const struct plan *p,
		  const struct target *t, const struct filter_pattern *missed)
{
	const char *func = missed->func;

	*s = (struct search){.pattern = pattern};
	/* "*" is in any file, and says nothing. */
	if (!func[strspn(func, "*?")] || filter_pattern__parse(pattern, func))
		return -1;
	free(pattern->object);
	pattern->object = NULL;
	for_each_other(p, t, !missed->object, match, s);
	return 0;
}

int other_files__take(const struct plan *p, const struct target *t, struct filter *filter)
{
	int taken = 0;

	for (size_t i = 0; i < filter->in_cnt; i++) {
		struct filter_pattern *pat = &filter->in[i], pattern;
		struct search s;

		if (pat->matched || pat->object || pat->region || strpbrk(pat->func, "*?[") ||
		    search(&s, &pattern, p, t, pat))
			continue;
		filter_pattern__clear(&pattern);
		if (s.files_cnt != 1)
			continue;
		pat->object = strdup(s.files[0]);
		if (!pat->object)
			return -ENOMEM;
		log_info("the program has no function '%s': taking that of %s (-F '%s:%s')",
			 pat->func, pat->object, pat->object, pat->func);
		taken++;
	}
	return taken;
}

char *other_files__find(const struct plan *p, const struct target *t,
			const struct filter_pattern *missed, char *buf, size_t size)
{
	struct filter_pattern pattern;
	struct search s;
	size_t len;

	*buf = '\0';
	if (search(&s, &pattern, p, t, missed))
		return buf;
	if (s.files_cnt) {
		len = list_files(&s, buf, size);
		if (len < size)
			snprintf(buf + len, size - len, " ha%s %s: -F '%s:%s'",
				 s.files_cnt == 1 ? "s" : "ve",
				 s.functions == 1 || !strpbrk(pattern.func, "*?[")
					 ? "it"
					 : "such functions",
				 s.files[0], missed->func);
	}
	filter_pattern__clear(&pattern);
	return buf;
}

static void offer(void *ctx, const char *object, const struct symbol *sym)
{
	char *demangled = demangle(sym->name);

	nearest__offer_in(ctx, object, demangled ? cxx_name__cut_parameters(demangled) : sym->name);
	free(demangled);
}

void other_files__offer(const struct plan *p, const struct target *t, struct nearest *n)
{
	for_each_other(p, t, false, offer, n);
}

bool other_files__is_stripped(const struct plan *p, uint32_t object)
{
	const struct symtab *tab = p->objects[object].tab;
	size_t cnt = tab ? symtab__count(tab) : 0, nameless = 0;

	for (size_t i = 0; i < cnt; i++)
		nameless += symtab__at(tab, i)->nameless;
	/* Exported functions keep their names in a stripped file, so some names prove nothing. */
	return nameless > cnt / 2;
}

char *other_files__names(const struct target *t, uint32_t object, char *buf, size_t size)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	const struct target_object *o = &t->objects[object];
	char package[128];

	/* Another root has packages of its own. */
	if (*o->root || package__of(o->path, package, sizeof(package)))
		snprintf(package, sizeof(package), "its package's debug symbols");
	else
		strncat(package, "-dbgsym, from the debug archive",
			sizeof(package) - strlen(package) - 1);
	snprintf(buf, size, "names come with %s%s", package,
		 urls && *urls ? " (the servers in DEBUGINFOD_URLS have none)"
			       : ", or from a debuginfod server (DEBUGINFOD_URLS)");
	return buf;
}

void other_files__tell(const struct plan *p, const struct target *t)
{
	char text[OTHER_FILES_TEXT];

	for (size_t i = 0; i < p->objects_cnt; i++) {
		if (t->objects[i].is_main && other_files__is_stripped(p, i))
			log_info("%s is stripped, so its functions go by their addresses; %s",
				 t->objects[i].path, other_files__names(t, i, text, sizeof(text)));
	}
}
