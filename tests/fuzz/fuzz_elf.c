// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: a stranger's ELF file through everything that reads one, up to the finished plan, as
 * -x would. `make fuzz` builds and runs it. -close_fd_mask=2 keeps it quiet: what is wrong with
 * each input is no news.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dwarf/line_table.h"
#include "dwarf/parameters.h"
#include "dwarf/variables.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "elf/lookup.h"
#include "plan/exit_strategy.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "plan/plan_lines.h"
#include "planner/planner.h"
#include "select/filter.h"
#include "select/line_spec.h"
#include "select/usdt_pattern.h"
#include "symbol/demangle.h"
#include "util/cxx_name.h"
#include "symbol/symtab.h"
#include "symbol/usdt.h"
#include "target/target.h"
#include "unwind/rows.h"
#include "util/log.h"
#include "wire.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The input lies there, and is at the same time what its debug link, "full.debug", leads to. */
static char dir[] = "/tmp/proftrace-fuzz-XXXXXX";
static char path[sizeof(dir) + 16], link_path[sizeof(dir) + 16];
#define LINKED_FD 500

static void clean(void)
{
	unlink(link_path);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char to[64];

	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/fuzz", dir);
	snprintf(link_path, sizeof(link_path), "%s/full.debug", dir);
	snprintf(to, sizeof(to), "/proc/self/fd/%d", LINKED_FD);
	if (symlink(to, link_path))
		abort();
	atexit(clean);
	log_set_level(LOG_DEBUG);
	return 0;
}

/* Checks the promises of symtab.h. */
static void check_symbols(const struct elf_image *img, const struct symtab *tab)
{
	for (size_t i = 0; i < symtab__count(tab); i++) {
		const struct symbol *sym = symtab__at(tab, i);
		uint64_t off;
		char *name;

		if (!elf_image__exec_offset(img, sym->vaddr, sym->size, &off) ||
		    off != sym->offset || (i && symtab__at(tab, i - 1)->vaddr >= sym->vaddr) ||
		    (sym->piece_of != SYMTAB_NONE && sym->piece_of >= symtab__count(tab)))
			abort();
		if (sym->piece_of != SYMTAB_NONE &&
		    symtab__at(tab, sym->piece_of)->piece_of != SYMTAB_NONE)
			abort();
		name = demangle(sym->name);
		if (name)
			cxx_name__cut_parameters(name);
		free(name);
	}
}

/* Checks the promises of parameters.h. */
static void check_parameters(const struct elf_image *img, const struct symtab *tab)
{
	static const char *const names[][2] = {
		{"this", NULL}, {"i", NULL}, {"argc", NULL}, {"req", "id"}, {"this", "count"}};
	struct parameters *p = NULL;
	char why[64];

	if (parameters__open(img, "", &p))
		return;
	for (size_t i = 0; i < symtab__count(tab); i++) {
		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
			const struct parameter_path path = {names[n][0], names[n][1]};
			struct parameter at;

			if (!parameters__find(p, symtab__at(tab, i)->vaddr, &path, &at, why,
					      sizeof(why)))
				continue;
			if (at.class >= PARAMETER_OTHER || !at.number || at.offset < 0 ||
			    (at.bytes != 1 && at.bytes != 2 && at.bytes != 4 && at.bytes != 8))
				abort();
		}
	}
	parameters__free(p);
}

/* A path to a member is a text, whatever the file says of its variables. */
static void check_variables(const struct elf_image *img)
{
	const struct elf_section *sections;
	struct variables *v = NULL;
	char member[VARIABLE_PATH], word[VARIABLE_WORD];
	size_t cnt;

	if (variables__open(img, "", &v))
		return;
	sections = elf_image__sections(img, &cnt);
	for (size_t i = 0; i < (cnt < 64 ? cnt : 64) * 16; i++) {
		uint64_t vaddr = sections[i / 16].addr + i % 16 * 8;
		struct data_symbol s;

		if (!symbol_lookup_data(img, vaddr, &s))
			continue;
		variables__member(v, s.vaddr, vaddr - s.vaddr, member, word);
		if (!memchr(member, '\0', sizeof(member)) || !memchr(word, '\0', sizeof(word)) ||
		    (*member && *member != '.' && *member != '['))
			abort();
	}
	variables__free(v);
}

/* Checks the promises of usdt.h. */
static void check_usdt(const struct elf_image *img)
{
	const struct usdt_probe *probes;
	struct usdt *usdt;
	size_t cnt;

	if (usdt__load(img, &usdt))
		abort();
	probes = usdt__probes(usdt, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		uint64_t off;

		if (!*probes[i].provider || !*probes[i].name ||
		    strlen(probes[i].arguments) > elf_image__size(img) ||
		    !elf_image__exec_offset(img, probes[i].vaddr, 1, &off) ||
		    off != probes[i].offset || probes[i].semaphore >= elf_image__size(img))
			abort();
	}
	usdt__free(usdt);
}

/* The line table keeps the promises of line_table.h, whatever the file has. */
static void check_source(const struct elf_image *img, const struct symtab *tab)
{
	struct line_inlined inlined[LINE_INLINED_MAX];
	struct line_table *table = NULL;
	struct line_row place;
	size_t cnt;

	if (line_table__open(img, "", &table))
		return;
	for (size_t i = 0; i < symtab__count(tab); i++) {
		const struct symbol *s = symtab__at(tab, i);

		if (line_table__place(table, s->vaddr, &place) || !place.file != !place.line ||
		    (place.file && !*place.file))
			abort();
		if (line_table__inlined_at(table, s->vaddr + s->size / 2, inlined, &cnt) ||
		    cnt > LINE_INLINED_MAX)
			abort();
		for (size_t k = 0; k < cnt; k++) {
			if (!*inlined[k].name || !inlined[k].file != !inlined[k].line)
				abort();
		}
	}
	line_table__free(table);
}

/* Rows are in order, each with another rule than the one before or where a function begins; the
 * first is at 0, the last is a gap (unwind/rows.h). */
static void check_rows(const struct elf_image *img)
{
	struct unwind_rows rows;

	if (unwind_rows__load(img, &rows))
		return;
	if (!rows.cnt || rows.rows[0].start || rows.rows[rows.cnt - 1].rule & ~WIRE_UNWIND_BEGINS)
		abort();
	for (size_t i = 1; i < rows.cnt; i++) {
		if (rows.rows[i].start <= rows.rows[i - 1].start ||
		    rows.rows[i].rule == (rows.rows[i - 1].rule & ~WIRE_UNWIND_BEGINS))
			abort();
	}
	unwind_rows__free(&rows);
}

static void read_symbols(const struct elf_image *img)
{
	static const char *const names[] = {"choose", "none"};
	struct symtab *tab = NULL;
	uint64_t vaddrs[2];
	uint8_t id[64];

	symbol_lookup(img, names, 2, vaddrs);
	elf_image__build_id(img, id);
	check_usdt(img);
	check_variables(img);
	check_rows(img);
	if (!symtab__load(img, "", &tab))
		check_symbols(img, tab);
	if (tab) {
		check_parameters(img, tab);
		check_source(img, tab);
	}
	symtab__free(tab);
}

/* Checks the promises of plan.h: sites and exits inside the file, names, reasons. */
static void check_plan(struct plan *p, size_t len)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		struct plan_function *f = &p->functions[i];

		if (f->offset >= len || f->size > len - f->offset ||
		    (f->kind == PLAN_FUNCTION && f->entry.offset >= f->size) ||
		    f->exit >= EXIT_STRATEGIES || f->entry.site >= SITE_CLASSES || !f->reason ||
		    f->exits > p->exits_cnt || f->exits_cnt > p->exits_cnt - f->exits ||
		    !*plan__name(p, i))
			abort();
		if (f->exit == EXIT_RETURN && f->entry.delta)
			abort(); /* the kernel would take another word for the return address */
		for (size_t e = 0; e < f->exits_cnt; e++) {
			if (p->exits[f->exits + e].offset >= len)
				abort();
		}
		for (size_t s = 0; s < (size_t)f->begins_cnt + f->ends_cnt; s++) {
			const struct plan_site *site = &p->sites[f->sites + s];

			if (f->sites + s >= p->sites_cnt || site->offset >= len ||
			    site->semaphore >= len || site->site >= SITE_CLASSES || !site->reason)
				abort();
		}
		if ((f->kind == PLAN_FUNCTION) == (f->begins_cnt != 0))
			abort();
	}
	for (size_t i = 0; i < p->skipped_cnt; i++) {
		if (!p->skipped[i].reason || !*plan__skip_name(p, i))
			abort();
	}
}

/* Checks the promises of lines.h. */
static void check_lines(const struct plan *p, size_t len)
{
	const struct plan_lines *l = p->lines;

	for (size_t i = 0; i < l->inlines_cnt; i++) {
		const struct plan_inline *in = &l->inlines[i];

		if (!in->name || in->parent > i || !in->file != !in->line)
			abort();
	}
	for (size_t i = 0; i < l->lines_cnt; i++) {
		const struct plan_line *line = &l->lines[i];

		if (!*line->file || !line->line || line->function >= p->functions_cnt ||
		    line->inlined > l->inlines_cnt || !p->functions[line->function].has_lines ||
		    (i && line->function < line[-1].function))
			abort();
	}
	for (size_t i = 0; i < l->sites_cnt; i++) {
		const struct plan_line_site *s = &l->sites[i];
		const struct plan_function *f = &p->functions[s->function];

		if (s->offset >= len || s->function >= p->functions_cnt || s->line > l->lines_cnt ||
		    s->site >= SITE_CLASSES || (i && s->function < s[-1].function))
			abort();
		if (s->line &&
		    (l->lines[s->line - 1].reason || l->lines[s->line - 1].function != s->function))
			abort();
		if (s->at_entry ? s->offset != f->offset + f->entry.offset
				: s->site == SITE_NOP5 || s->offset == f->offset + f->entry.offset)
			abort();
	}
}

/* `known`: as if a process that is known maps nothing else; otherwise any process may map it. */
static void make_plan(int fd, size_t len, bool known, char *pattern, struct line_specs *lines)
{
	struct target_process process = {.pid = getpid(), .pidfd = -1};
	struct target_object object = {.path = path, .root = "", .fd = fd, .is_main = true};
	const struct target t = {.processes = &process,
				 .processes_cnt = known,
				 .objects = &object,
				 .objects_cnt = 1};
	char *all = "*:*";
	struct usdt_patterns usdt;
	const struct plan_options opts = {
		.call_nops = CALL_NOPS_5, .lines = lines, .usdt = known ? &usdt : NULL};
	struct filter filter = {0};
	struct plan *p = NULL;

	if (usdt_patterns__parse(&usdt, &all, 1))
		abort();
	if (filter__init(&filter, &pattern, pattern ? 1 : 0, NULL, 0))
		abort();
	if (!planner__make(&t, &filter, &opts, &p))
		check_plan(p, len);
	if (p && lines)
		check_lines(p, len);
	plan__free(p);
	filter__clear(&filter);
	usdt_patterns__clear(&usdt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* All, some, and none: then it says where functions of that name were inlined. */
	static char *const lines[] = {"*", "*:1-20", "o[!n]*e"};
	struct line_specs specs;
	int fd = memfd_create("fuzz", MFD_CLOEXEC), debug_fd;
	struct elf_image *img = NULL;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len || dup2(fd, LINKED_FD) < 0)
		abort();
	if (!elf_image__open(fd, path, &img))
		read_symbols(img);
	elf_image__free(img);

	debug_fd = dup(fd);
	img = NULL;
	if (elf_image__open_debug(debug_fd, path, &img))
		close(debug_fd);
	else
		read_symbols(img);
	elf_image__free(img);

	make_plan(fd, len, false, NULL, NULL);
	make_plan(fd, len, true, NULL, NULL);
	make_plan(fd, len, true, "nothing like it", NULL); /* looks for the nearest names */
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (line_specs__parse(&specs, &lines[i], 1))
			abort();
		make_plan(fd, len, true, NULL, &specs);
		line_specs__clear(&specs);
	}
	close(fd);
	return 0;
}
