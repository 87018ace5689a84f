// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/code_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_image.h"
#include "symbol/demangle.h"
#include "symbol/kallsyms.h"
#include "symbol/symtab.h"
#include "target/maps.h"
#include "util/array.h"
#include "util/search.h"

#define PROCESSES_MAX 4096  /* whose mappings are kept: those that were met last */
#define MAPPINGS_MAX  65536 /* executable ones of a process */
#define FILES_MAX     4096
#define NAMES_MAX     65536 /* functions that samples have met; what comes later has no name */
#define NONE	      UINT32_MAX

/* Files by number: these come first, and have no symbols. */
enum { KERNEL, UNKNOWN, ANONYMOUS, VDSO, FILES_FIXED };

static const char *const fixed[FILES_FIXED] = {"[kernel]", "[unknown]", "[anonymous]", "[vdso]"};

struct code_file {
	char *path;
	unsigned int dev_major, dev_minor;
	uint64_t ino;
	bool loaded;
	int fd;
	struct elf_image *img;
	struct symtab *tab;  /* NULL: it has none */
	uint32_t *functions; /* by symbol: its number, or NONE */
	uint32_t nameless;   /* of all code without symbols, or NONE */
};

struct code_mapping {
	uint64_t start, end, offset;
	uint32_t file;
};

struct process {
	pid_t pid;
	bool looked;   /* in this round */
	uint64_t last; /* number of the look when it was met last */
	struct code_mapping *mappings;
	size_t cnt, cap;
};

/* A function of the kernel, by where it begins. */
struct kernel_function {
	uint64_t start;
	uint32_t number;
};

struct code_names {
	struct kallsyms *kernel; /* NULL: not shown */
	struct kernel_function *kernel_functions;
	size_t kernel_cnt, kernel_cap;
	struct code_file *files;
	size_t files_cnt, files_cap;
	struct process *processes;
	size_t processes_cnt, processes_cap;
	uint64_t looks;
	struct code_name *names;
	size_t names_cnt, names_cap;
};

static int64_t add_file(struct code_names *c, const char *path)
{
	char *copy = strdup(path);

	if (!copy || ARRAY_RESERVE(&c->files, c->files_cnt, &c->files_cap)) {
		free(copy);
		return -ENOMEM;
	}
	c->files[c->files_cnt] = (struct code_file){.path = copy, .fd = -1, .nameless = NONE};
	return (int64_t)c->files_cnt++;
}

int code_names__new(struct code_names **out)
{
	struct code_names *c = calloc(1, sizeof(*c));
	int err = c ? 0 : -ENOMEM;

	for (int i = 0; !err && i < FILES_FIXED; i++)
		err = add_file(c, fixed[i]) < 0 ? -ENOMEM : 0;
	if (err) {
		code_names__free(c);
		return err;
	}
	if (kallsyms__open(NULL, &c->kernel))
		c->kernel = NULL;
	*out = c;
	return 0;
}

void code_names__free(struct code_names *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->files_cnt; i++) {
		symtab__free(c->files[i].tab);
		elf_image__free(c->files[i].img);
		if (c->files[i].fd >= 0)
			close(c->files[i].fd);
		free(c->files[i].functions);
		free(c->files[i].path);
	}
	for (size_t i = 0; i < c->processes_cnt; i++)
		free(c->processes[i].mappings);
	for (size_t i = 0; i < c->names_cnt; i++)
		free(c->names[i].name);
	kallsyms__free(c->kernel);
	free(c->kernel_functions);
	free(c->files);
	free(c->processes);
	free(c->names);
	free(c);
}

/* A new function; NONE: there is no room for more. */
static uint32_t add_name(struct code_names *c, const char *symbol, uint32_t file, uint64_t offset)
{
	char *plain = c->names_cnt < NAMES_MAX ? demangle(symbol) : NULL;
	char *name = plain ? plain : strdup(symbol);

	if (c->names_cnt >= NAMES_MAX || !name ||
	    ARRAY_RESERVE(&c->names, c->names_cnt, &c->names_cap)) {
		free(name);
		return NONE;
	}
	c->names[c->names_cnt] = (struct code_name){name, symbol, c->files[file].path, offset};
	return c->names_cnt++;
}

/* The entry that stands for code of a file that has no symbol. */
static int64_t find_nameless(struct code_names *c, uint32_t file)
{
	struct code_file *f = &c->files[file];
	const char *base = strrchr(f->path, '/');
	char name[256];

	if (f->nameless == NONE) {
		snprintf(name, sizeof(name), file < FILES_FIXED ? "%s" : "[%s]",
			 base ? base + 1 : f->path);
		f->nameless = add_name(c, name, file, 0);
		if (f->nameless != NONE)
			c->names[f->nameless].symbol = c->names[f->nameless].name;
	}
	return f->nameless == NONE ? -ENOMEM : (int64_t)f->nameless;
}

static int64_t find_kernel(struct code_names *c, uint64_t ip)
{
	uint64_t start = 0;
	const char *name = c->kernel ? kallsyms__find(c->kernel, ip, &start) : NULL;
	uint32_t number;

	if (!name)
		return find_nameless(c, KERNEL);
	for (size_t i = 0; i < c->kernel_cnt; i++) {
		if (c->kernel_functions[i].start == start)
			return c->kernel_functions[i].number;
	}
	if (ARRAY_RESERVE(&c->kernel_functions, c->kernel_cnt, &c->kernel_cap))
		return -ENOMEM;
	number = add_name(c, name, KERNEL, start);
	if (number == NONE)
		return find_nameless(c, KERNEL);
	c->kernel_functions[c->kernel_cnt++] = (struct kernel_function){start, number};
	return number;
}

/* Reads the symbols of the file that is mapped there; it may be none, or damaged. */
static void load(struct code_file *f, pid_t pid, const struct code_mapping *m)
{
	const struct mapped_file mapped = {.path = f->path, .start = m->start, .end = m->end};

	f->loaded = true;
	f->fd = maps__open(pid, &mapped);
	if (f->fd < 0 || elf_image__try(f->fd, f->path, &f->img))
		return;
	if (symtab__load_named(f->img, &f->tab))
		f->tab = NULL;
	f->functions = f->tab ? malloc((symtab__count(f->tab) + 1) * sizeof(*f->functions)) : NULL;
	if (f->functions)
		memset(f->functions, 0xff, symtab__count(f->tab) * sizeof(*f->functions));
}

/* The symbol whose code is at `vaddr`; that of a function, if it is a piece of one. */
static uint32_t symbol_at(const struct symtab *tab, uint64_t vaddr)
{
	size_t at = LOWER_BOUND(symtab__count(tab), i, symtab__at(tab, i)->vaddr <= vaddr);

	while (at--) {
		const struct symbol *s = symtab__at(tab, at);

		if (s->piece_of != SYMTAB_NONE && vaddr - s->vaddr < s->size)
			return s->piece_of;
		if (s->kind == SYMBOL_NOTYPE)
			continue;
		return !s->size || vaddr - s->vaddr < s->size ? at : NONE;
	}
	return NONE;
}

static int64_t find_in_file(struct code_names *c, pid_t pid, const struct code_mapping *m,
			    uint64_t ip)
{
	struct code_file *f = &c->files[m->file];
	uint64_t vaddr, offset = ip - m->start + m->offset;
	const struct symbol *s;
	uint32_t at;

	if (m->file < FILES_FIXED)
		return find_nameless(c, m->file);
	if (!f->loaded)
		load(f, pid, m);
	if (!f->functions || !elf_image__exec_vaddr(f->img, offset, &vaddr))
		return find_nameless(c, m->file);
	at = symbol_at(f->tab, vaddr);
	if (at == NONE)
		return find_nameless(c, m->file);
	s = symtab__at(f->tab, at);
	if (f->functions[at] == NONE)
		f->functions[at] = add_name(c, s->name, m->file, s->offset);
	return f->functions[at] == NONE ? find_nameless(c, m->file) : (int64_t)f->functions[at];
}

static uint32_t file_of(struct code_names *c, const struct mapping *m)
{
	int64_t number;

	if (!m->ino)
		return !strcmp(m->name, "[vdso]") ? VDSO : ANONYMOUS;
	for (size_t i = FILES_FIXED; i < c->files_cnt; i++) {
		const struct code_file *f = &c->files[i];

		if (f->ino == m->ino && f->dev_major == m->dev_major &&
		    f->dev_minor == m->dev_minor)
			return i;
	}
	number = c->files_cnt < FILES_MAX ? add_file(c, m->name) : -ENOMEM;
	if (number < 0)
		return UNKNOWN;
	c->files[number].ino = m->ino;
	c->files[number].dev_major = m->dev_major;
	c->files[number].dev_minor = m->dev_minor;
	return number;
}

struct mapping_search {
	struct code_names *c;
	struct process *p;
};

static int add_mapping(const struct mapping *m, void *arg)
{
	struct mapping_search *s = arg;
	struct process *p = s->p;

	if (!m->executable)
		return 0;
	if (p->cnt >= MAPPINGS_MAX || ARRAY_RESERVE(&p->mappings, p->cnt, &p->cap))
		return -ENOMEM;
	p->mappings[p->cnt++] =
		(struct code_mapping){m->start, m->end, m->offset, file_of(s->c, m)};
	return 0;
}

static const struct code_mapping *find_mapping(const struct process *p, uint64_t ip)
{
	for (size_t i = 0; i < p->cnt; i++) {
		if (ip - p->mappings[i].start < p->mappings[i].end - p->mappings[i].start)
			return &p->mappings[i];
	}
	return NULL;
}

/* Forgets the process that was met longest ago: it has ended, most likely. */
static void forget_one(struct code_names *c)
{
	size_t oldest = 0;

	for (size_t i = 1; i < c->processes_cnt; i++) {
		if (c->processes[i].last < c->processes[oldest].last)
			oldest = i;
	}
	code_names__forget(c, c->processes[oldest].pid);
}

static struct process *process_of(struct code_names *c, pid_t pid)
{
	size_t i = 0;

	while (i < c->processes_cnt && c->processes[i].pid != pid)
		i++;
	if (i == c->processes_cnt) {
		if (i == PROCESSES_MAX)
			forget_one(c);
		if (ARRAY_RESERVE(&c->processes, c->processes_cnt, &c->processes_cap))
			return NULL;
		i = c->processes_cnt++;
		c->processes[i] = (struct process){.pid = pid};
	}
	c->processes[i].last = ++c->looks;
	return &c->processes[i];
}

int64_t code_names__find(struct code_names *c, pid_t pid, uint64_t ip, bool in_kernel)
{
	const struct code_mapping *m;
	struct mapping_search s = {.c = c};

	if (in_kernel)
		return find_kernel(c, ip);
	s.p = process_of(c, pid);
	if (!s.p)
		return find_nameless(c, UNKNOWN);
	m = find_mapping(s.p, ip);
	if (!m && !s.p->looked) {
		s.p->looked = true;
		s.p->cnt = 0;
		maps__for_each_mapping(pid, add_mapping, &s);
		m = find_mapping(s.p, ip);
	}
	return m ? find_in_file(c, pid, m, ip) : find_nameless(c, UNKNOWN);
}

void code_names__round(struct code_names *c)
{
	for (size_t i = 0; i < c->processes_cnt; i++)
		c->processes[i].looked = false;
}

void code_names__forget(struct code_names *c, pid_t pid)
{
	for (size_t i = 0; i < c->processes_cnt; i++) {
		if (c->processes[i].pid != pid)
			continue;
		free(c->processes[i].mappings);
		c->processes[i] = c->processes[--c->processes_cnt];
		return;
	}
}

size_t code_names__count(const struct code_names *c)
{
	return c->names_cnt;
}

const struct code_name *code_names__at(const struct code_names *c, size_t number)
{
	return &c->names[number];
}
