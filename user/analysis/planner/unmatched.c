// SPDX-License-Identifier: GPL-2.0-or-later
#include "planner/unmatched.h"

#include <ctype.h>
#include <elf.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_inside.h"
#include "plan/object.h"
#include "plan/plan.h"
#include "planner/other_files.h"
#include "regions/regions.h"
#include "select/arguments.h"
#include "select/filter.h"
#include "select/line_spec.h"
#include "select/nearest.h"
#include "select/probe_name.h"
#include "select/usdt_pattern.h"
#include "symbol/demangle.h"
#include "util/cxx_name.h"
#include "symbol/symtab.h"
#include "symbol/usdt.h"
#include "target/target.h"
#include "util/log.h"
#include "util/text.h"

#define MAX_LISTED 200 /* probes */

/* Whether it was asked for or not. */
static void offer_regions(struct nearest *nearest, const struct plan_object *obj)
{
	const struct usdt_probe *probes;
	size_t cnt = 0;

	probes = obj->usdt ? usdt__probes(obj->usdt, &cnt) : NULL;
	for (size_t i = 0; i < cnt; i++) {
		struct probe_name name = probe_name__own(probes[i].name);
		char text[NEAREST_NAME];

		if (strcmp(probes[i].provider, REGIONS_PROVIDER) != 0)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)name.len, probes[i].name);
		nearest__offer(nearest, text);
	}
}

/* The names most like the pattern's among all functions, or regions, of the loaded objects, and
 * with `t` among the functions of all other files. */
static char *nearest_names(const struct plan *p, const struct target *t, const char *pattern,
			   bool region, char *buf, size_t size)
{
	struct nearest nearest;

	nearest__init(&nearest, pattern);
	for (size_t i = 0; region && i < p->functions_cnt; i++) {
		if (p->functions[i].kind != PLAN_FUNCTION)
			nearest__offer(&nearest, p->functions[i].symbol);
	}
	for (size_t i = 0; region && i < p->objects_cnt; i++)
		offer_regions(&nearest, &p->objects[i]);
	for (size_t i = 0; !region && i < p->objects_cnt; i++) {
		for (size_t k = 0; p->objects[i].tab && k < symtab__count(p->objects[i].tab); k++) {
			const struct symbol *sym = symtab__at(p->objects[i].tab, k);
			char *demangled = demangle(sym->name);

			if (sym->kind == SYMBOL_FUNC)
				nearest__offer(&nearest,
					       demangled ? cxx_name__cut_parameters(demangled)
							 : sym->name);
			free(demangled);
		}
	}
	if (t && !region)
		other_files__offer(p, t, &nearest);
	return nearest__text(&nearest, buf, size);
}

char *unmatched__nearest(const struct plan *p, const char *glob, char *buf, size_t size)
{
	struct filter_pattern pattern;

	*buf = '\0';
	if (filter_pattern__parse(&pattern, glob))
		return buf;
	nearest_names(p, NULL, pattern.func, pattern.region, buf, size);
	filter_pattern__clear(&pattern);
	return buf;
}

/* Whether a file that the pattern names is mapped. */
static bool names_mapped(const struct filter_pattern *pat, const struct plan *p,
			 const struct target *t)
{
	for (size_t i = 0; i < p->objects_cnt; i++) {
		const struct filter_object fobj =
			plan_object__names(&p->objects[i], &t->objects[i]);

		if (p->objects[i].tab && filter_pattern__names(pat, &fobj))
			return true;
	}
	return false;
}

/* The object that a pattern of functions speaks of, if nearly none of its functions has a name. */
static bool speaks_of_stripped(const struct plan *p, const struct target *t,
			       const struct filter_pattern *pat, uint32_t *object)
{
	for (size_t i = 0; i < p->objects_cnt; i++) {
		const struct filter_object fobj =
			plan_object__names(&p->objects[i], &t->objects[i]);

		if (pat->object ? filter_pattern__names(pat, &fobj) : t->objects[i].is_main) {
			*object = i;
			if (other_files__is_stripped(p, i))
				return true;
		}
	}
	return false;
}

/* Whether the program is not among the files that the processes have mapped as code, although one
 * of them runs it; and if so, says why. */
static bool report_moved(const struct target *t, enum log_level level)
{
	for (size_t i = 0; i < t->objects_cnt; i++) {
		if (t->objects[i].is_main)
			return false;
	}
	if (!t->processes_cnt)
		return false;
	log_at(level,
	       "no code of the program of process %d is mapped from its file: it has moved all to "
	       "memory of its own (huge pages?), where no probes can be put; name a library "
	       "(-F 'OBJECT:*')",
	       t->processes[0].pid);
	return true;
}

/* Whether a glob may be meant as several, "parse,read". Parameters of C++ have commas as well. */
static bool is_list(const char *glob)
{
	return strchr(glob, ',') && !strpbrk(glob, "(<[{ ");
}

/* Says where the function may be that was looked for in vain: in another file, under another name,
 * or under no name. */
static void report_function(const struct plan *p, const struct target *t,
			    const struct filter_pattern *pat, bool mapped, enum log_level level)
{
	const char *object = pat->object ? pat->object : "", *colon = *object ? ":" : "";
	char names[NEAREST_MAX * (NEAREST_NAME + 2)], text[OTHER_FILES_TEXT];
	uint32_t at;

	if (other_files__find(p, t, pat, text, sizeof(text))[0])
		log_at(level, "no function of %s matches '%s%s%s'; %s",
		       mapped ? pat->object ? "that file" : "the program" : "any such file", object,
		       colon, pat->func, text);
	else if (!mapped)
		log_at(level, "no mapped file matches '%s'; /proc/PID/maps lists them",
		       pat->object);
	else if (!pat->object && report_moved(t, level))
		return;
	else if (is_list(pat->func))
		log_at(level, "no function matches '%s%s%s': give the option once for each name",
		       object, colon, pat->func);
	else if (speaks_of_stripped(p, t, pat, &at))
		log_at(level,
		       "no function matches '%s%s%s'%s%s: %s is stripped, so its functions go by "
		       "their addresses (func_0x...); %s",
		       object, colon, pat->func,
		       nearest_names(p, NULL, pat->func, false, names, sizeof(names))[0]
			       ? ", the nearest: "
			       : "",
		       names, t->objects[at].path, other_files__names(t, at, text, sizeof(text)));
	else if (nearest_names(p, t, pat->func, false, names, sizeof(names))[0])
		log_at(level, "no function matches '%s%s%s'; the nearest: %s", object, colon,
		       pat->func, names);
	else
		log_at(level, "no function matches '%s%s%s'; -l lists what there is", object, colon,
		       pat->func);
}

/* Names a pattern that matches nothing. Returns whether it may do so later. */
static bool report_pattern(const struct plan *p, const struct target *t,
			   const struct filter_pattern *pat, bool mapped,
			   const struct unmatched_hopes *hopes)
{
	enum log_level level = p->functions_cnt ? LOG_WARN : LOG_ERROR;
	char names[NEAREST_MAX * (NEAREST_NAME + 2)];

	/* A name much like others is misspelt, rather than one that comes later. */
	if (pat->region && hopes->files)
		mapped = nearest_names(p, NULL, pat->func, true, names, sizeof(names))[0];
	/* Another process of a program that is mapped has no other functions. */
	if (hopes->programs && hopes->same && mapped && !pat->region) {
		report_function(p, t, pat, mapped, LOG_WARN);
		return true;
	}
	if (hopes->programs || (!mapped && hopes->files)) {
		log_warn("nothing matches '%s%s%s' yet; it is traced once it is loaded",
			 pat->region   ? "region"
			 : pat->object ? pat->object
				       : "",
			 pat->region || pat->object ? ":" : "", pat->func);
		return true;
	}
	if (!pat->region)
		report_function(p, t, pat, mapped, level);
	else if (nearest_names(p, NULL, pat->func, true, names, sizeof(names))[0])
		log_at(level, "no region matches '%s'; the nearest: %s", pat->func, names);
	else
		log_at(level, "no region matches '%s'", pat->func);
	return false;
}

/* Says which probes there are. Names are strangers'. */
static void list_probes(const struct plan *p, const struct target *t)
{
	size_t listed = 0;

	for (size_t i = 0; i < p->objects_cnt; i++) {
		const struct usdt_probe *probes;
		size_t cnt = 0;

		probes = p->objects[i].usdt ? usdt__probes(p->objects[i].usdt, &cnt) : NULL;
		for (size_t k = 0; k < cnt && listed < MAX_LISTED; k++, listed++)
			log_info("found: %s:%s:%s", path_base(t->objects[i].path),
				 probes[k].provider, probes[k].name);
	}
	if (!listed)
		log_info("no mapped file has static probes");
	else if (listed == MAX_LISTED)
		log_info("there may be more: readelf -n FILE lists all of a file");
}

/* Whether a mapped file has probes of that provider. */
static bool knows_provider(const struct plan *p, const char *glob)
{
	for (size_t i = 0; i < p->objects_cnt; i++) {
		const struct usdt_probe *probes;
		size_t cnt = 0;

		probes = p->objects[i].usdt ? usdt__probes(p->objects[i].usdt, &cnt) : NULL;
		for (size_t k = 0; k < cnt; k++) {
			if (!fnmatch(glob, probes[k].provider, 0))
				return true;
		}
	}
	return false;
}

/* Reports a pattern of --usdt that nothing matches. If its provider is there, the name is misspelt.
 */
static bool report_probe(const struct plan *p, const struct usdt_pattern *pat,
			 const struct unmatched_hopes *hopes)
{
	enum log_level level = p->functions_cnt ? LOG_WARN : LOG_ERROR;

	if (hopes->programs ||
	    (hopes->files && (pat->object || !knows_provider(p, pat->provider)))) {
		log_warn("--usdt '%s': nothing matches yet; a probe that is loaded later is traced",
			 pat->text);
		return true;
	}
	log_at(level, "--usdt '%s': no probe matches%s", pat->text, pat->matched ? " the end" : "");
	return false;
}

/* Whether two reasons differ in numbers at most: leaves have 2 instructions, or 12. */
static bool same_reason(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (isdigit((unsigned char)*a))
			a++;
		while (isdigit((unsigned char)*b))
			b++;
		if (*a != *b || !*a)
			return *a == *b;
	}
}

/* Says of functions of which none can be probed what most of the program's own have in common; of
 * all, if it has none: _init() is skipped in every program. */
static void report_skipped(const struct plan *p, enum log_level level)
{
	enum { KINDS = 64 }; /* of reasons; there are not as many */
	struct {
		const struct plan_skip *first;
		size_t cnt;
	} kinds[KINDS] = {{NULL, 0}}, *most = kinds;
	bool expected = true;

	for (size_t i = 0; i < p->skipped_cnt; i++)
		expected &= p->skipped[i].expected;
	for (size_t i = 0; i < p->skipped_cnt; i++) {
		if (p->skipped[i].expected != expected)
			continue;
		for (size_t k = 0; k < KINDS; k++) {
			if (kinds[k].first &&
			    !same_reason(kinds[k].first->reason, p->skipped[i].reason))
				continue;
			if (!kinds[k].first)
				kinds[k].first = &p->skipped[i];
			kinds[k].cnt++;
			most = kinds[k].cnt > most->cnt ? &kinds[k] : most;
			break;
		}
	}
	log_at(level, "none of the %zu matching functions can be probed; %zu of them, as %s: %s",
	       p->skipped_cnt, most->cnt, most->first->symbol, most->first->reason);
}

/* Says why a file has no functions. */
static void report_no_symbols(const struct plan *p, const struct target *t, size_t object,
			      enum log_level level)
{
	const struct plan_object *obj = &p->objects[object];
	size_t unreadable = obj->tab ? symtab__unreadable(obj->tab) : 0;
	char text[OTHER_FILES_TEXT];

	if (unreadable)
		log_at(level,
		       "none of the %zu function symbols of %s has a name that can be read: names "
		       "are longer than 64 KB, or lie outside of the file's strings",
		       unreadable, t->objects[object].path);
	else if (obj->img && elf_section__by_type(obj->img, SHT_SYMTAB))
		log_at(level,
		       "%s has no function symbols in its .symtab; name a library (-F 'OBJECT:*'), "
		       "or trace what it starts (--follow)",
		       t->objects[object].path);
	else
		log_at(level,
		       "%s has no function symbols (stripped): %s; or name a library "
		       "(-F 'OBJECT:*'), or trace what it starts (--follow)",
		       t->objects[object].path, other_files__names(t, object, text, sizeof(text)));
}

/* Says why nothing can be probed although every pattern matched. Returns whether it is to go on all
 * the same: a command is run, as its user did not ask whether it can be traced, but not if the user
 * has left out all of its functions. */
static bool report_nothing(const struct plan *p, const struct target *t, bool is_command)
{
	size_t symbols = 0, at = 0;
	enum log_level level;

	for (size_t i = 0; i < p->objects_cnt; i++) {
		symbols += p->objects[i].tab ? symtab__count(p->objects[i].tab) : 0;
		at = t->objects[i].is_main ? i : at;
	}
	if (!p->skipped_cnt && report_moved(t, LOG_ERROR))
		return false;
	if (!p->skipped_cnt && symbols) {
		log_error("no function is left to trace; see -F and -N");
		return false;
	}
	level = is_command ? LOG_WARN : LOG_ERROR;
	if (p->skipped_cnt)
		report_skipped(p, level);
	else
		report_no_symbols(p, t, at, level);
	return is_command;
}

bool unmatched__report(const struct plan *p, const struct target *t, const struct filter *filter,
		       const struct usdt_patterns *usdt, const struct unmatched_hopes *hopes)
{
	bool all = true, waits = hopes->programs, probes = true;

	for (size_t i = 0; i < filter->in_cnt; i++) {
		const struct filter_pattern *pat = &filter->in[i];

		if (pat->matched)
			continue;
		all = false;
		waits |= report_pattern(p, t, pat,
					!pat->region && (!pat->object || names_mapped(pat, p, t)),
					hopes);
	}
	for (size_t i = 0; usdt && i < usdt->cnt; i++) {
		if (usdt->items[i].matched &&
		    (!usdt->items[i].end_name || usdt->items[i].end_matched))
			continue;
		all = probes = false;
		waits |= report_probe(p, &usdt->items[i], hopes);
	}
	if (!probes)
		list_probes(p, t);
	if (all && !p->functions_cnt && !waits)
		waits = report_nothing(p, t, hopes->runs);
	return p->functions_cnt || waits;
}

bool unmatched__arguments(const struct plan *p, const struct target *t, const struct arguments *a,
			  const struct unmatched_hopes *hopes)
{
	const struct argument_list *l = arguments__unmatched(a);
	bool waits = l && (hopes->programs || (hopes->files && l->pattern.object));
	enum log_level level = waits ? LOG_WARN : LOG_ERROR;
	char names[NEAREST_MAX * (NEAREST_NAME + 2)], text[OTHER_FILES_TEXT];

	if (!l)
		return true;
	if (l->failures)
		log_at(level, "%s '%s': %s", l->option, l->text, l->why);
	else if (l->refused)
		log_at(level,
		       "%s '%s': matches functions in Go only, which pass arguments in another "
		       "way",
		       l->option, l->text);
	else if (!l->pattern.region && other_files__find(p, t, &l->pattern, text, sizeof(text))[0])
		log_at(level, "%s '%s': no function that is traced matches; %s", l->option, l->text,
		       text);
	else if (nearest_names(p, NULL, l->pattern.func, l->pattern.region, names,
			       sizeof(names))[0])
		log_at(level, "%s '%s': no function that is traced matches; the nearest: %s",
		       l->option, l->text, names);
	else
		log_at(level, "%s '%s': no function that is traced matches; see -F, and -l",
		       l->option, l->text);
	return waits;
}

void unmatched__lines(const struct plan *p, const struct line_spec *spec, enum log_level level)
{
	char names[NEAREST_MAX * (NEAREST_NAME + 2)];

	if (nearest_names(p, NULL, spec->pattern.func, false, names, sizeof(names))[0])
		log_at(level, "--lines '%s': no function matches; the nearest: %s", spec->text,
		       names);
	else if (strpbrk(spec->pattern.func, "./"))
		log_at(level,
		       "--lines '%s': no function matches; which lines of a file is said as "
		       "FILE:FROM-TO",
		       spec->text);
	else
		log_at(level, "--lines '%s': no function matches; -l lists what there is",
		       spec->text);
}
