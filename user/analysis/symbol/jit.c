// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/jit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/perf_map.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

#define OFTEN_NS   100000000ull /* between looks that find something new */
#define RARELY_NS  16000000000ull
#define MOST_LISTS 64 /* that are open */
#define SHARE	   20 /* of our time, at most one part of so many goes into reading a list */

struct jit_process {
	pid_t pid;
	struct perf_map *names;
	int fd; /* of its list; -1: there is none */
	uint64_t list_due_ns, maps_due_ns;
	uint64_t maps_wait_ns; /* until the next look at the mappings */
	uint64_t maps_hash;
	bool makes_code;
};

/* NULL: no memory. */
static struct jit_process *process_of(struct jit *j, pid_t pid)
{
	for (size_t i = 0; i < j->cnt; i++) {
		if (j->processes[i].pid == pid)
			return &j->processes[i];
	}
	if (ARRAY_RESERVE(&j->processes, j->cnt, &j->cap))
		return NULL;
	j->processes[j->cnt] = (struct jit_process){.pid = pid, .fd = -1, .maps_wait_ns = OFTEN_NS};
	return &j->processes[j->cnt++];
}

/* Opens the list, or another one that has taken its place. */
static void open_list(struct jit *j, struct jit_process *p)
{
	struct stat st;
	size_t lists = 0;
	int fd;

	if (p->fd >= 0 && (fstat(p->fd, &st) || st.st_nlink))
		return;
	for (size_t i = 0; i < j->cnt; i++)
		lists += j->processes[i].fd >= 0;
	fd = p->fd >= 0 || lists < MOST_LISTS ? perf_map__open(p->pid) : -1;
	if (fd < 0)
		return;
	if (p->fd >= 0)
		close(p->fd);
	p->fd = fd;
	perf_map__free(p->names);
	p->names = perf_map__new();
}

static void read_list(struct jit *j, struct jit_process *p)
{
	uint64_t began = now_ns(), ended;

	open_list(j, p);
	if (p->fd >= 0 && p->names && perf_map__read(p->names, p->fd) < 0)
		log_debug("the list of JIT code of process %d cannot be read", p->pid);
	ended = now_ns();
	p->list_due_ns = ended + (p->fd < 0 ? 10 * OFTEN_NS : OFTEN_NS);
	if (p->list_due_ns < ended + SHARE * (ended - began))
		p->list_due_ns = ended + SHARE * (ended - began);
}

static const char *find(const struct jit_process *p, uint64_t address)
{
	return p->names ? perf_map__find(p->names, address) : NULL;
}

/* Code that was made a moment ago is in what the list has grown by: it is read at once if there is
 * not much, due or not. */
const char *jit__name(struct jit *j, pid_t pid, uint64_t address)
{
	struct jit_process *p = process_of(j, pid);
	const char *name;

	if (!p)
		return NULL;
	if (now_ns() >= p->list_due_ns)
		read_list(j, p);
	name = find(p, address);
	if (!name && p->names && perf_map__has_grown(p->names, p->fd)) {
		read_list(j, p);
		name = find(p, address);
	}
	return name;
}

bool jit__look_is_due(struct jit *j, pid_t pid)
{
	struct jit_process *p = process_of(j, pid);

	return p && now_ns() >= p->maps_due_ns;
}

void jit__looked(struct jit *j, pid_t pid, uint64_t hash, bool makes_code)
{
	struct jit_process *p = process_of(j, pid);

	if (!p)
		return;
	if (p->maps_hash != hash)
		p->maps_wait_ns = OFTEN_NS;
	else if (p->maps_wait_ns < RARELY_NS)
		p->maps_wait_ns *= 2;
	p->maps_due_ns = now_ns() + p->maps_wait_ns;
	p->maps_hash = hash;
	p->makes_code = makes_code;
}

void jit__open_lists(struct jit *j)
{
	for (size_t i = 0; i < j->cnt; i++) {
		struct jit_process *p = &j->processes[i];

		if (p->makes_code && p->fd < 0 && now_ns() >= p->list_due_ns)
			read_list(j, p);
	}
}

void jit__free(struct jit *j)
{
	for (size_t i = 0; i < j->cnt; i++) {
		perf_map__free(j->processes[i].names);
		if (j->processes[i].fd >= 0)
			close(j->processes[i].fd);
	}
	free(j->processes);
	*j = (struct jit){0};
}
