// SPDX-License-Identifier: GPL-2.0-or-later
#include "planner/wait_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/line_table.h"
#include "dwarf/variables.h"
#include "elf/debug_file.h"
#include "elf/elf_bytes.h"
#include "elf/elf_image.h"
#include "elf/lookup.h"
#include "plan/object.h"
#include "plan/plan.h"
#include "symbol/demangle.h"
#include "target/maps.h"
#include "target/target_data.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

#define LOOK_NS	     1000000000ull /* between two looks at the mappings of a process */
#define OPEN_NS	     150000000ull  /* CPU time, to open the debug information of a file */
#define PROCESSES    256	   /* whose mappings are known */
#define ADDRESSES    16384	   /* that have been asked for */
#define RWLOCK_BYTES 56		   /* of a pthread_rwlock_t on 64-bit machines */
/* A variable that is hardly more than a lock or a condition is called by its name alone. */
#define SMALL_BYTES 64

/* Memory of a process that holds variables of a file. */
struct data_range {
	uint64_t start, end;
	uint64_t bias;	 /* an address less this is a vaddr of the file */
	uint32_t object; /* of the target */
};

struct named_process {
	pid_t pid;
	uint64_t looked_ns;
	struct data_range *ranges;
	size_t cnt, cap;
};

struct named_variable {
	pid_t pid;
	uint64_t address;
	char *name; /* NULL: it has none */
	char word[VARIABLE_WORD];
};

/* A file's variables. */
struct named_object {
	bool looked, debug_looked;
	struct elf_image *img, *debug; /* NULL: it is the plan's; there is none */
	bool members_looked;
	struct variables *members; /* NULL: nothing tells of them */
	bool rwlocks_looked, has_rwlocks;
};

struct wait_names {
	const struct plan *plan;
	const struct target *target;
	struct named_process *processes;
	size_t processes_cnt, processes_cap;
	struct named_variable *variables; /* open addressing */
	size_t variables_cnt;
	struct named_object *objects; /* by number in the target */
	size_t objects_cnt, objects_cap;
};

struct wait_names *wait_names__new(const struct plan *p, const struct target *t)
{
	struct wait_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->plan = p;
	n->target = t;
	n->variables = calloc(2 * ADDRESSES, sizeof(*n->variables));
	if (n->variables)
		return n;
	free(n);
	return NULL;
}

void wait_names__free(struct wait_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < 2 * ADDRESSES; i++)
		free(n->variables[i].name);
	for (size_t i = 0; i < n->processes_cnt; i++)
		free(n->processes[i].ranges);
	for (size_t i = 0; i < n->objects_cnt; i++) {
		variables__free(n->objects[i].members); /* of what is freed next */
		elf_image__free(n->objects[i].img);
		elf_image__free(n->objects[i].debug);
	}
	free(n->variables);
	free(n->processes);
	free(n->objects);
	free(n);
}

/* A look at the mappings of a process. */
struct look {
	struct wait_names *n;
	struct named_process *process;
	bool known;	 /* it is known which object the last code was of */
	uint32_t object; /* that one */
	uint64_t bias;
	uint64_t end; /* of its last variables */
};

static bool object_of(const struct wait_names *n, const struct mapping *m, uint32_t *object)
{
	for (uint32_t i = 0; i < n->target->objects_cnt; i++) {
		const struct target_object *o = &n->target->objects[i];

		if (o->ino == m->ino && o->dev_major == m->dev_major &&
		    o->dev_minor == m->dev_minor) {
			*object = i;
			return true;
		}
	}
	return false;
}

static const struct elf_image *image_of(struct wait_names *n, uint32_t object)
{
	if (object < n->plan->objects_cnt && n->plan->objects[object].img)
		return n->plan->objects[object].img;
	return object < n->objects_cnt ? n->objects[object].img : NULL;
}

/* Makes room for the file; NULL: there is no memory. */
static struct named_object *object_at(struct wait_names *n, uint32_t object)
{
	size_t before = n->objects_cap;

	if (ARRAY_RESERVE(&n->objects, (size_t)object, &n->objects_cap))
		return NULL;
	if (n->objects_cap > before)
		memset(&n->objects[before], 0, (n->objects_cap - before) * sizeof(*n->objects));
	if (n->objects_cnt <= object)
		n->objects_cnt = object + 1;
	return &n->objects[object];
}

/* Opens the file, once. */
static void open_object(struct wait_names *n, uint32_t object)
{
	const struct target_object *o = &n->target->objects[object];
	struct named_object *named = object_at(n, object);

	if (!named || named->looked)
		return;
	named->looked = true;
	if (!image_of(n, object) && elf_image__try(o->fd, o->path, &named->img))
		named->img = NULL;
}

/* The variable in the file's own symbols, or those that debug information has. */
static bool find_symbol(struct wait_names *n, uint32_t object, uint64_t vaddr,
			struct data_symbol *symbol)
{
	const struct elf_image *img = image_of(n, object);
	struct named_object *named = object_at(n, object);

	if (!img || symbol_lookup_data(img, vaddr, symbol))
		return img;
	if (!named)
		return false;
	if (!named->debug_looked &&
	    debug_file__find(img, n->target->objects[object].root, &named->debug))
		named->debug = NULL;
	named->debug_looked = true;
	return named->debug && symbol_lookup_data(named->debug, vaddr, symbol);
}

/* Code of a file tells where all of it is mapped to. */
static void look_at_code(struct look *l, const struct mapping *m)
{
	uint64_t vaddr;

	l->known = false;
	if (!m->ino || !object_of(l->n, m, &l->object))
		return;
	open_object(l->n, l->object);
	l->known = image_of(l->n, l->object) &&
		   elf_image__exec_vaddr(image_of(l->n, l->object), m->offset, &vaddr);
	if (l->known)
		l->bias = m->start - vaddr;
}

/* Behind the code of a file lie its variables; and behind these, in no file, those that are 0 at
 * first. */
static int look_at(const struct mapping *m, void *ctx)
{
	struct look *l = ctx;
	struct named_process *p = l->process;
	uint32_t object;

	if (m->executable) {
		look_at_code(l, m);
	} else if (l->known && (m->ino ? object_of(l->n, m, &object) && object == l->object
				       : l->end == m->start && !*m->name)) {
		l->end = m->end;
		if (ARRAY_RESERVE(&p->ranges, p->cnt, &p->cap))
			return 1;
		p->ranges[p->cnt++] = (struct data_range){m->start, m->end, l->bias, l->object};
	}
	return 0;
}

static const struct data_range *range_of(const struct named_process *p, uint64_t address)
{
	for (size_t i = 0; i < p->cnt; i++) {
		if (address - p->ranges[i].start < p->ranges[i].end - p->ranges[i].start)
			return &p->ranges[i];
	}
	return NULL;
}

/* Reads the process's mappings again; if it has ended, what was known of it stays. */
static void look_again(struct wait_names *n, struct named_process *p)
{
	struct named_process seen = {.pid = p->pid};
	struct look l = {.n = n, .process = &seen};

	p->looked_ns = now_ns();
	if (maps__for_each_mapping(p->pid, look_at, &l) < 0 || !seen.cnt) {
		free(seen.ranges);
		return;
	}
	free(p->ranges);
	p->ranges = seen.ranges;
	p->cnt = seen.cnt;
	p->cap = seen.cap;
}

/* NULL: no memory, or there are too many. */
static struct named_process *process_of(struct wait_names *n, pid_t pid)
{
	for (size_t i = 0; i < n->processes_cnt; i++) {
		if (n->processes[i].pid == pid)
			return &n->processes[i];
	}
	if (n->processes_cnt == PROCESSES ||
	    ARRAY_RESERVE(&n->processes, n->processes_cnt, &n->processes_cap))
		return NULL;
	n->processes[n->processes_cnt] = (struct named_process){.pid = pid};
	return &n->processes[n->processes_cnt++];
}

void wait_names__look(struct wait_names *n, pid_t pid)
{
	struct named_process *p = process_of(n, pid);

	if (p)
		look_again(n, p);
}

/* Debug information of the file's variables; NULL: none, or one that takes too long to read. */
static struct variables *members_of(struct wait_names *n, uint32_t object)
{
	const struct elf_image *img = image_of(n, object);
	const struct target_object *o = &n->target->objects[object];
	struct named_object *named = object_at(n, object);

	if (!img || !named || named->members_looked)
		return named ? named->members : NULL;
	named->members_looked = true;
	if (line_table__open_ns(img, o->root) > OPEN_NS)
		log_info("%s: its debug information is large, so locks in its variables are named "
			 "without their members",
			 o->path);
	else if (variables__open(img, o->root, &named->members))
		named->members = NULL;
	return named->members;
}

static char *text_of(const struct data_symbol *s, uint64_t offset, const char *path)
{
	char *plain = demangle(s->name), *text = NULL;
	int len = *path || s->size <= SMALL_BYTES || !offset
			  ? asprintf(&text, "%.80s%s", plain ? plain : s->name, path)
			  : asprintf(&text, "%.80s+0x%llx", plain ? plain : s->name,
				     (unsigned long long)offset);

	free(plain);
	return len < 0 ? NULL : text;
}

/* Whether the file's code locks rwlocks of the C library's. */
static bool has_rwlocks(struct wait_names *n, uint32_t object)
{
	const struct elf_image *img = image_of(n, object);
	struct named_object *named = object_at(n, object);

	if (!img || !named)
		return false;
	if (!named->rwlocks_looked)
		named->has_rwlocks = symbol_is_used(img, "pthread_rwlock_rdlock") ||
				     symbol_is_used(img, "pthread_rwlock_wrlock");
	named->rwlocks_looked = true;
	return named->has_rwlocks;
}

/* Without debug information a variable that is as large as a pthread_rwlock_t, in a file that locks
 * any, is taken for one: the words that threads mostly wait at. */
static void guess_word(struct wait_names *n, uint32_t object, const struct data_symbol *s,
		       uint64_t offset, char word[VARIABLE_WORD])
{
	if (s->size == RWLOCK_BYTES && (offset == 8 || offset == 12) && has_rwlocks(n, object))
		snprintf(word, VARIABLE_WORD, "?%s",
			 offset == 8 ? "__wrphase_futex" : "__writers_futex");
}

static char *find_name(struct wait_names *n, pid_t pid, uint64_t address, char word[VARIABLE_WORD])
{
	struct named_process *p = process_of(n, pid);
	const struct data_range *range = p ? range_of(p, address) : NULL;
	struct data_symbol symbol;
	struct variables *members;
	char path[VARIABLE_PATH] = "";
	uint64_t vaddr;

	if (p && !range && (!p->looked_ns || now_ns() - p->looked_ns > LOOK_NS)) {
		look_again(n, p);
		range = range_of(p, address);
	}
	if (!range)
		return NULL;
	vaddr = address - range->bias;
	if (!find_symbol(n, range->object, vaddr, &symbol))
		return NULL;
	members = members_of(n, range->object);
	if (!members || !variables__member(members, symbol.vaddr, vaddr - symbol.vaddr, path, word))
		guess_word(n, range->object, &symbol, vaddr - symbol.vaddr, word);
	return text_of(&symbol, vaddr - symbol.vaddr, path);
}

const char *wait_names__variable(struct wait_names *n, pid_t pid, uint64_t address,
				 const char **word)
{
	size_t at = (address * 0x9e3779b97f4a7c15ull ^ (uint64_t)pid << 20) >> 20;
	struct named_variable *v;

	for (;; at++) {
		v = &n->variables[at % (2 * ADDRESSES)];
		if (!v->pid || (v->pid == pid && v->address == address))
			break;
	}
	*word = "";
	if (!v->pid && n->variables_cnt == ADDRESSES)
		return NULL;
	if (!v->pid) {
		n->variables_cnt++;
		*v = (struct named_variable){.pid = pid, .address = address};
		v->name = find_name(n, pid, address, v->word);
	}
	*word = v->word;
	return v->name;
}
