// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/patches.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf_image.h"
#include "security/opener.h"
#include "target/maps.h"
#include "target/process.h"
#include "target/target.h"
#include "util/array.h"
#include "util/log.h"
#include "util/search.h"
#include "util/text.h"

#define PAGE	    4096ull
#define CHUNK	    2	       /* pages that are compared in one go */
#define WINDOW	    512	       /* pages whose state is read in one go */
#define MAX_PAGES   (1u << 20) /* of code, in one mapping: 4 GB */
#define MAX_AREAS   (1u << 16) /* mappings of one process */
#define MAX_PATCHES (1u << 20) /* ranges */
#define MAX_BASES   4	       /* of an object in one process; V8's has two */
#define INT3	    0xcc
#define CALL	    0xe8
#define CALL_SIZE   5
#define LEA_SIZE    5

/* A private mapping of an object's. Others have no probes. */
struct area {
	uint64_t start, end, offset;
	uint32_t object;
};

/*
 * All that is looked for. A breakpoint in a process that a debugger is at is the debugger's, unless
 * a process that has none has it as well: profilers put probes into all processes at once. So all
 * processes are looked at again if there are any.
 */
struct search {
	const struct target *t;
	const struct patch_search *searches;
	bool *told;		     /* that a process has moved code, by object */
	struct patches *breakpoints; /* of debugged processes, by object */
	struct patches *probes;	     /* breakpoints that others have, too; in the second look */
	bool second;
};

/* One process that is looked at. */
struct look {
	const struct search *all;
	pid_t pid;
	int pagemap; /* negative: cannot be opened */
	bool debugged;
	struct area *areas;
	size_t areas_cnt, areas_cap;
	/* Pages of the kernel that probes at 5-byte nops call into. */
	uint64_t *trampolines;
	size_t trampolines_cnt, trampolines_cap;
};

static int add(struct patches *p, uint64_t from, uint64_t to)
{
	struct file_range *last = p->cnt ? &p->items[p->cnt - 1] : NULL;

	if (last && from >= last->from && from <= last->to) {
		last->to = to > last->to ? to : last->to;
		return 0;
	}
	if (p->cnt >= MAX_PATCHES) { /* too many to tell apart */
		p->items[0] = (struct file_range){0, UINT64_MAX};
		p->cnt = 1;
		return 0;
	}
	if (ARRAY_RESERVE(&p->items, p->cnt, &p->cap))
		return -ENOMEM;
	p->items[p->cnt++] = (struct file_range){from, to};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct file_range *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Puts them in order, and those together that overlap. */
static void join(struct patches *p)
{
	size_t cnt = 0;

	if (p->cnt)
		qsort(p->items, p->cnt, sizeof(*p->items), by_start);
	for (size_t i = 0; i < p->cnt; i++) {
		struct file_range *last = cnt ? &p->items[cnt - 1] : NULL;

		if (last && p->items[i].from <= last->to)
			last->to = p->items[i].to > last->to ? p->items[i].to : last->to;
		else
			p->items[cnt++] = p->items[i];
	}
	p->cnt = cnt;
}

bool patches__touch(const struct patches *p, uint64_t offset, uint64_t len)
{
	size_t at = LOWER_BOUND(p->cnt, i, p->items[i].to <= offset);

	return at < p->cnt && p->items[at].from < offset + len;
}

void patches__clear(struct patches *p)
{
	free(p->items);
	*p = (struct patches){0};
}

/* Whether a mapping is of the object's file, which may have two numbers for its file system. */
static bool maps_object(const struct look *l, const struct mapping *m,
			const struct target_object *obj)
{
	char path[96];
	struct stat st;

	if (m->ino != obj->ino)
		return false;
	if (m->dev_major == obj->dev_major && m->dev_minor == obj->dev_minor)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, l->pid, m->start,
		 m->end);
	return !opener__stat(path, &st) && st.st_dev == obj->st_dev && st.st_ino == obj->st_ino;
}

static int look_at_mapping(const struct mapping *m, void *ctx)
{
	struct look *l = ctx;

	if (!m->ino && !strcmp(m->name, "[uprobes-trampoline]")) {
		if (ARRAY_RESERVE(&l->trampolines, l->trampolines_cnt, &l->trampolines_cap))
			return -ENOMEM;
		l->trampolines[l->trampolines_cnt++] = m->start;
	}
	/* Linkers may put code and data on one page of the file: mapped as data it is no sign. */
	if (!m->ino || m->shared || !m->executable || l->areas_cnt >= MAX_AREAS)
		return 0;
	for (size_t i = 0; i < l->all->t->objects_cnt; i++) {
		if (!l->all->searches[i].found || !maps_object(l, m, &l->all->t->objects[i]))
			continue;
		if (ARRAY_RESERVE(&l->areas, l->areas_cnt, &l->areas_cap))
			return -ENOMEM;
		l->areas[l->areas_cnt++] = (struct area){m->start, m->end, m->offset, i};
		break;
	}
	return 0;
}

/* Whether the call of five bytes at `vaddr` is the kernel's; what it is a call by may be hidden by
 * a breakpoint, as the kernel changes it step by step. */
static bool calls_trampoline(const struct look *l, const uint8_t *call, uint64_t vaddr)
{
	int32_t rel;
	uint64_t to;

	memcpy(&rel, call + 1, sizeof(rel));
	to = vaddr + CALL_SIZE + (int64_t)rel;
	for (size_t i = 0; i < l->trampolines_cnt; i++) {
		if (to - l->trampolines[i] < PAGE)
			return true;
	}
	return false;
}

/* Whether it is `lea -128(%rsp),%rsp`, which 7.2 puts before its calls, perhaps under a breakpoint.
 */
static bool skips_red_zone(const uint8_t *mem)
{
	static const uint8_t lea[LEA_SIZE] = {0x48, 0x8d, 0x64, 0x24, 0x80};

	return (mem[0] == INT3 || mem[0] == lea[0]) && !memcmp(mem + 1, lea + 1, LEA_SIZE - 1);
}

/* How many bytes of memory, the first of which differs from the file's, are a uprobe's. */
static size_t probed(const struct look *l, const uint8_t *mem, size_t len, uint64_t vaddr)
{
	if ((mem[0] == INT3 || mem[0] == CALL) && len >= CALL_SIZE &&
	    calls_trampoline(l, mem, vaddr))
		return CALL_SIZE; /* 7.2 leaves its call behind as the end of a nop */
	if (len >= LEA_SIZE + CALL_SIZE && skips_red_zone(mem) && mem[LEA_SIZE] == CALL &&
	    calls_trampoline(l, mem + LEA_SIZE, vaddr + LEA_SIZE))
		return LEA_SIZE + CALL_SIZE;
	return 0;
}

/* Notes a breakpoint at the offset, which may be a debugger's. Returns 0 or -ENOMEM. */
static int note_breakpoint(const struct look *l, uint32_t object, uint64_t offset)
{
	const struct search *all = l->all;

	if (!all->second)
		return l->debugged ? add(&all->breakpoints[object], offset, offset + 1) : 0;
	return patches__touch(&all->breakpoints[object], offset, 1)
		       ? add(&all->probes[object], offset, offset + 1)
		       : 0;
}

/* `len` bytes of an object as they are in memory, at `vaddr`, and in the file, at `offset`. */
struct copies {
	const uint8_t *mem, *file;
	size_t len;
	uint64_t vaddr, offset;
};

/* Notes where the copies differ. */
static int compare(const struct look *l, const struct copies *c, uint32_t object)
{
	size_t at = 0, theirs;
	int err = 0;

	while (!err && at < c->len) {
		if (at + 8 <= c->len && !memcmp(c->mem + at, c->file + at, 8)) {
			at += 8;
			continue;
		}
		if (c->mem[at] == c->file[at]) {
			at++;
			continue;
		}
		theirs = probed(l, c->mem + at, c->len - at, c->vaddr + at);
		if (!theirs && c->mem[at] == INT3)
			err = note_breakpoint(l, object, c->offset + at);
		else if (!theirs && !l->all->second)
			err = add(l->all->searches[object].found, c->offset + at,
				  c->offset + at + 1);
		at += theirs ? theirs : 1;
	}
	return err;
}

/* Compares bytes [from, to) of the file, which have been written in memory. Returns 0, -ESRCH if
 * the process has ended meanwhile, or -ENOMEM. */
static int compare_range(const struct look *l, const struct area *a, uint64_t from, uint64_t to)
{
	uint8_t mem[CHUNK * PAGE], file[CHUNK * PAGE];
	struct patches *found = l->all->searches[a->object].found;
	int err = 0;

	while (!err && from < to) {
		/* To the end of a page: no call of the kernel's lies across two. */
		size_t cap = sizeof(mem) - from % PAGE;
		size_t len = to - from < cap ? to - from : cap;
		uint64_t vaddr = a->start + (from - a->offset);
		ssize_t n = pread(l->all->t->objects[a->object].fd, file, len, from);
		ssize_t m = n > 0 ? opener__read_code(l->pid, vaddr, mem, n) : 0;

		if (n <= 0)
			return 0; /* there is no more of it */
		if (!m)
			return -ESRCH; /* nor of its memory */
		if (m > 0)
			err = compare(l, &(struct copies){mem, file, m, vaddr, from}, a->object);
		if (!err && m < n && !l->all->second)
			err = add(found, from + (m > 0 ? m : 0), from + n);
		from += n;
	}
	return err;
}

/* A page's entry in /proc/PID/pagemap, from Linux 4.2 on. */
#define PRESENT (3ull << 62) /* the page is present or swapped out */
#define OF_FILE (1ull << 61)
#define UNKNOWN PRESENT

static bool is_written(uint64_t entry)
{
	return (entry & PRESENT) && !(entry & OF_FILE);
}

/* Compares the pages of [from, to) in the file that have been written. */
static int look_at_range(const struct look *l, const struct area *a, uint64_t from, uint64_t to)
{
	uint64_t vaddr = (a->start + (from - a->offset)) & -PAGE, end = a->start + (to - a->offset);
	uint64_t entries[WINDOW];
	int err = 0;

	if ((end - vaddr) / PAGE > MAX_PAGES)
		return add(l->all->searches[a->object].found, from, to);
	for (; !err && vaddr < end; vaddr += WINDOW * PAGE) {
		size_t want = (end - vaddr + PAGE - 1) / PAGE;
		ssize_t n;
		size_t cnt;

		want = want < WINDOW ? want : WINDOW;
		n = pread(l->pagemap, entries, want * sizeof(*entries), vaddr / PAGE * 8);
		cnt = n < 0 ? want : n / sizeof(*entries);
		for (size_t i = 0; n < 0 && i < cnt; i++)
			entries[i] = UNKNOWN;
		for (size_t i = 0, first; !err && i < cnt; i++) {
			uint64_t begin, stop;

			if (!is_written(entries[i]))
				continue;
			for (first = i; i + 1 < cnt && is_written(entries[i + 1]); i++)
				;
			begin = vaddr + first * PAGE - a->start + a->offset;
			stop = vaddr + (i + 1) * PAGE - a->start + a->offset;
			err = compare_range(l, a, begin < from ? from : begin,
					    stop < to ? stop : to);
		}
	}
	return err;
}

/* Compares what a mapping has of its object's code. */
static int look_at_area(const struct look *l, const struct area *a)
{
	const struct patch_search *s = &l->all->searches[a->object];
	uint64_t end = a->offset + (a->end - a->start);
	int err = 0;

	for (size_t i = 0; !err && i < s->segments_cnt; i++) {
		const struct elf_segment *seg = &s->segments[i];
		uint64_t from = seg->offset > a->offset ? seg->offset : a->offset;
		uint64_t to = seg->offset + seg->filesz;

		to = to < end ? to : end;
		if (seg->exec && from < to)
			err = look_at_range(l, a, from, to);
	}
	return err;
}

/* A place where a process has mapped an object: added to the file's own addresses it gives those in
 * memory. */
struct base {
	uint64_t distance;
	uint64_t bytes; /* of code that lies in other memory than the file there */
};

/* Code of an object's that a process has from other memory than the file. */
struct moved {
	struct base bases[MAX_BASES];
	size_t bases_cnt;
	struct patches mapped; /* what the process has of the file, somewhere */
};

struct elsewhere {
	const struct look *l;
	struct moved *moved; /* by object */
};

/* Adds the base that is told by an area of a segment, if it is none that is known already. */
static void add_base(struct moved *m, const struct area *a, const struct patch_search *s)
{
	for (size_t i = 0; i < s->segments_cnt; i++) {
		const struct elf_segment *seg = &s->segments[i];
		uint64_t distance = a->start - a->offset + seg->offset - seg->vaddr;
		size_t at = 0;

		if (!seg->exec || a->offset >= seg->offset + seg->filesz ||
		    a->offset + (a->end - a->start) <= seg->offset)
			continue;
		while (at < m->bases_cnt && m->bases[at].distance != distance)
			at++;
		if (at == m->bases_cnt && at < MAX_BASES)
			m->bases[m->bases_cnt++].distance = distance;
		return;
	}
}

/* Notes which parts of objects that are not told yet the process has mapped, and where. Returns 0
 * or -ENOMEM. */
static int find_bases(const struct look *l, const bool *told, struct moved *moved)
{
	int err = 0;

	for (size_t i = 0; !err && i < l->areas_cnt; i++) {
		const struct area *a = &l->areas[i];
		struct moved *m = &moved[a->object];

		if (told[a->object])
			continue;
		add_base(m, a, &l->all->searches[a->object]);
		err = add(&m->mapped, a->offset, a->offset + (a->end - a->start));
	}
	for (size_t i = 0; i < l->all->t->objects_cnt; i++)
		join(&moved[i].mapped);
	return err;
}

/*
 * How many bytes of the object between two offsets the process has nowhere from the file. V8 maps a
 * piece of its code for a second time beside the code that it makes: what lies around that piece
 * takes nothing away.
 */
static uint64_t unmapped_bytes(const struct patches *mapped, uint64_t from, uint64_t to)
{
	size_t at = LOWER_BOUND(mapped->cnt, i, mapped->items[i].to <= from);
	uint64_t bytes = 0;

	for (; at < mapped->cnt && mapped->items[at].from < to; at++) {
		if (mapped->items[at].from > from)
			bytes += mapped->items[at].from - from;
		from = mapped->items[at].to;
	}
	return bytes + (from < to ? to - from : 0);
}

/* How many bytes of the mapping, of something else, lie where the object's code was. */
static uint64_t bytes_elsewhere(const struct mapping *m, const struct patch_search *s,
				const struct base *base, const struct patches *mapped)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->segments_cnt; i++) {
		const struct elf_segment *seg = &s->segments[i];
		uint64_t start = base->distance + seg->vaddr, end = start + seg->filesz;
		uint64_t from = m->start > start ? m->start : start;
		uint64_t to = m->end < end ? m->end : end;

		if (seg->exec && from < to)
			bytes += unmapped_bytes(mapped, from - start + seg->offset,
						to - start + seg->offset);
	}
	return bytes;
}

static int count_elsewhere(const struct mapping *m, void *ctx)
{
	const struct elsewhere *e = ctx;
	const struct search *all = e->l->all;

	for (size_t i = 0; m->executable && i < all->t->objects_cnt; i++) {
		struct moved *o = &e->moved[i];

		if (!o->bases_cnt || (m->ino && maps_object(e->l, m, &all->t->objects[i])))
			continue;
		for (size_t k = 0; k < o->bases_cnt; k++)
			o->bases[k].bytes +=
				bytes_elsewhere(m, &all->searches[i], &o->bases[k], &o->mapped);
	}
	return 0;
}

/* Says how many bytes of the object's code the process has moved, if any. Returns whether. */
static bool tell_moved(const struct look *l, uint32_t object, const struct moved *m)
{
	for (size_t i = 0; i < m->bases_cnt; i++) {
		if (!m->bases[i].bytes)
			continue;
		log_warn("%s: process %d has moved %" PRIu64 " kB of its code to memory of its own "
			 "(huge pages?): calls of what is there are not seen",
			 path_base(l->all->t->objects[object].path), l->pid,
			 (m->bases[i].bytes + 1023) / 1024);
		return true;
	}
	return false;
}

/*
 * Says of a process of the target's, and of one for each file, that it has moved code: the kernel
 * puts probes where the file is mapped alone. The list of what is mapped, which may be long, is
 * read once for all objects. Returns 0 or -errno.
 */
static int tell_elsewhere(const struct look *l, bool *told)
{
	const size_t cnt = l->all->t->objects_cnt;
	struct moved *moved = calloc(cnt + 1, sizeof(*moved));
	struct elsewhere e = {l, moved};
	int err = moved ? find_bases(l, told, moved) : -ENOMEM;

	if (!err)
		err = maps__for_each_mapping(l->pid, count_elsewhere, &e);
	for (size_t i = 0; moved && i < cnt; i++) {
		told[i] |= !err && tell_moved(l, i, &moved[i]);
		patches__clear(&moved[i].mapped);
	}
	free(moved);
	return err;
}

/* *fd becomes negative if it may not be opened. Returns 0, or -ESRCH if the process has ended. */
static int open_pagemap(pid_t pid, int *fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	*fd = opener__open(path);
	return *fd == -ENOENT || *fd == -ESRCH ? -ESRCH : 0;
}

/* Whether it is one of the target's processes, not a stranger. */
static bool is_named(const struct target *t, pid_t pid)
{
	for (size_t i = 0; i < t->processes_cnt; i++) {
		if (t->processes[i].pid == pid)
			return true;
	}
	return false;
}

/* Returns 0, also for a process that has ended, or -errno. */
static int look_at_process(const struct search *all, pid_t pid)
{
	struct look l = {.all = all, .pid = pid, .pagemap = -1};
	int err = maps__for_each_mapping(pid, look_at_mapping, &l);

	if (!err && l.areas_cnt) {
		err = open_pagemap(pid, &l.pagemap);
		l.debugged = process__is_debugged(pid);
	}
	for (size_t i = 0; !err && i < l.areas_cnt && !(all->second && l.debugged); i++)
		err = look_at_area(&l, &l.areas[i]);
	if (!err && !all->second && is_named(all->t, pid))
		err = tell_elsewhere(&l, all->told);
	if (l.pagemap >= 0)
		close(l.pagemap);
	free(l.areas);
	free(l.trampolines);
	return err == -ENOENT || err == -ESRCH ? 0 : err;
}

/* Some processes of strangers may not be looked at. */
static int look_everywhere(const struct search *all)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int err = dir ? 0 : -errno;

	while (!err && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 0 || pid == getpid())
			continue;
		err = look_at_process(all, pid);
		if (err && err != -ENOMEM) {
			log_debug("cannot see what process %d has patched: %s", pid,
				  strerror(-err));
			err = 0;
		}
	}
	if (dir)
		closedir(dir);
	return err;
}

/* Adds the range's bytes that are no profiler's probes. Returns 0 or -ENOMEM. */
static int add_without(struct patches *to, const struct file_range *range,
		       const struct patches *probes)
{
	int err = 0;

	if (range->to - range->from > MAX_PATCHES)
		return add(to, range->from, range->to);
	for (uint64_t at = range->from; !err && at < range->to; at++)
		err = patches__touch(probes, at, 1) ? 0 : add(to, at, at + 1);
	return err;
}

/* Finds out which breakpoints are debuggers', and adds these. Returns 0 or -errno. */
static int tell_breakpoints(struct search *all)
{
	size_t cnt = 0;
	int err = 0;

	for (size_t i = 0; i < all->t->objects_cnt; i++) {
		join(&all->breakpoints[i]);
		cnt += all->breakpoints[i].cnt;
	}
	if (!cnt)
		return 0;
	all->second = true;
	err = look_everywhere(all);
	for (size_t i = 0; !err && i < all->t->objects_cnt; i++) {
		join(&all->probes[i]);
		for (size_t k = 0; !err && k < all->breakpoints[i].cnt; k++)
			err = add_without(all->searches[i].found, &all->breakpoints[i].items[k],
					  &all->probes[i]);
	}
	return err;
}

static void search_free(struct search *all)
{
	for (size_t i = 0; all->breakpoints && all->probes && i < all->t->objects_cnt; i++) {
		patches__clear(&all->breakpoints[i]);
		patches__clear(&all->probes[i]);
	}
	free(all->breakpoints);
	free(all->probes);
	free(all->told);
}

int patches__find(const struct target *t, const struct patch_search *searches, bool everywhere)
{
	size_t cnt = t->objects_cnt + 1;
	struct search all = {
		.t = t,
		.searches = searches,
		.told = calloc(cnt, sizeof(*all.told)),
		.breakpoints = calloc(cnt, sizeof(*all.breakpoints)),
		.probes = calloc(cnt, sizeof(*all.probes)),
	};
	int err = all.told && all.breakpoints && all.probes ? 0 : -ENOMEM;

	if (!err && everywhere)
		err = look_everywhere(&all);
	for (size_t i = 0; !err && !everywhere && i < t->processes_cnt; i++)
		err = look_at_process(&all, t->processes[i].pid);
	if (!err)
		err = tell_breakpoints(&all);
	search_free(&all);
	for (size_t i = 0; i < t->objects_cnt; i++) {
		if (searches[i].found)
			join(searches[i].found);
	}
	if (err)
		log_error("cannot see what is patched in memory: %s", strerror(-err));
	return err;
}
