// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thousand workers that do the same are one tree to a reader, whether they are threads or
 * processes. Threads are sorted into groups; then each path of each thread is looked up in its
 * group, step by step from the outermost call.
 */
#include "views/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/copy.h"
#include "calls/identity.h"
#include "calls/path_map.h"
#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/thread_kind.h"
#include "calls/tree.h"
#include "calls/walk.h"

struct merge {
	const struct profile *from;
	struct profile *to;
	enum merge_by by;
	const char **programs; /* by thread: name of its process's first thread; "": not known */
	uint32_t *order;       /* threads with calls, those of a group side by side */
	size_t order_cnt;
	uint32_t *merged; /* by node of `from`: its node in `to` */
	struct path_map map;
};

#define COMPARE(a, b) ((a) > (b) ? 1 : -((a) < (b)))

static int compare_kinds(const char *x, const char *y)
{
	size_t x_len = thread_kind__len(x), y_len = thread_kind__len(y);
	int order = strncmp(x, y, x_len < y_len ? x_len : y_len);

	if (!order)
		order = COMPARE(x_len, y_len);
	return order ? order : COMPARE(!!x[x_len], !!y[y_len]);
}

static int compare_groups(const struct merge *m, uint32_t a, uint32_t b)
{
	const struct profile_thread *x = &m->from->threads[a], *y = &m->from->threads[b];
	int order;

	if (m->by == MERGE_CALLSTACKS)
		return identity__compare_threads(x, y);
	order = m->by == MERGE_COMM ? strncmp(x->comm, y->comm, sizeof(x->comm))
				    : compare_kinds(x->comm, y->comm);
	if (!order && m->by == MERGE_PROGRAM)
		order = compare_kinds(m->programs[a], m->programs[b]);
	if (!order && m->by == MERGE_PROCESS)
		order = COMPARE(x->pid, y->pid);
	if (!order && m->by != MERGE_COMM)
		order = COMPARE(!!x->goroutine, !!y->goroutine);
	if (!order)
		order = COMPARE(x->spans, y->spans);
	return order;
}

static int compare_threads(const void *a, const void *b, void *merge)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct merge *m = merge;
	int order = compare_groups(m, x, y);

	/* A thread's own stack comes first: its name is kept up to date. */
	if (!order && m->by == MERGE_CALLSTACKS)
		order = COMPARE(m->from->threads[x].callstack_ns, m->from->threads[y].callstack_ns);
	/* Processes are counted where one thread of a group is of another than that before it. */
	if (!order && m->by == MERGE_PROGRAM)
		order = COMPARE(m->from->threads[x].pid, m->from->threads[y].pid);
	return order ? order : COMPARE(x, y);
}

static void sort_threads(struct merge *m)
{
	size_t i;

	for (i = 0; i < m->from->threads_cnt; i++)
		if (m->from->threads[i].first_root)
			m->order[m->order_cnt++] = i;
	if (m->order_cnt)
		qsort_r(m->order, m->order_cnt, sizeof(*m->order), compare_threads, m);
}

/* Orders threads by process, first threads first. */
static int compare_pids(const void *a, const void *b, void *merge)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct profile_thread *threads = ((const struct merge *)merge)->from->threads;
	int order = COMPARE(threads[x].pid, threads[y].pid);

	if (!order)
		order = COMPARE(threads[x].pid != threads[x].tid, threads[y].pid != threads[y].tid);
	return order ? order : COMPARE(x, y);
}

/* Orders threads by kind, then by program, unknown programs first. */
static int compare_programs(const void *a, const void *b, void *merge)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct merge *m = merge;
	int order = compare_kinds(m->from->threads[x].comm, m->from->threads[y].comm);

	return order ? order : compare_kinds(m->programs[x], m->programs[y]);
}

/* Of threads of one kind, order[begin] up to order[end - 1], those whose program is not known take
 * that of the others, if these have only one. */
static void guess_programs(struct merge *m, size_t begin, size_t end)
{
	const char *last = m->programs[m->order[end - 1]];
	size_t known = begin;

	while (known < end && !*m->programs[m->order[known]])
		known++;
	if (known == end || compare_kinds(m->programs[m->order[known]], last))
		return;
	while (known > begin)
		m->programs[m->order[--known]] = last;
}

static void find_programs(struct merge *m)
{
	const struct profile_thread *threads = m->from->threads;
	size_t cnt = m->from->threads_cnt, i, begin = 0;

	for (i = 0; i < cnt; i++)
		m->order[i] = i;
	if (cnt)
		qsort_r(m->order, cnt, sizeof(*m->order), compare_pids, m);
	for (i = 0; i < cnt; i++) {
		const struct profile_thread *t = &threads[m->order[i]];

		m->programs[m->order[i]] = t->pid == t->tid ? t->comm : "";
		if (i && t->pid != t->tid && threads[m->order[i - 1]].pid == t->pid)
			m->programs[m->order[i]] = m->programs[m->order[i - 1]];
	}
	if (cnt)
		qsort_r(m->order, cnt, sizeof(*m->order), compare_programs, m);
	for (i = 1; i <= cnt; i++) {
		if (i < cnt &&
		    !compare_kinds(threads[m->order[begin]].comm, threads[m->order[i]].comm))
			continue;
		guess_programs(m, begin, i);
		begin = i;
	}
}

/* Adds a node of `from` to thread `group` of `to`; its parent has been added before. */
static void merge_node(struct merge *m, uint32_t node, uint32_t group)
{
	const struct profile_node *n = &m->from->nodes[node];
	uint32_t parent = m->merged[n->parent];
	uint32_t *into = path_map__at(&m->map, path_step(parent, group, n->function));

	if (*into) {
		stats__add(&m->to->nodes[*into].stats, &n->stats);
	} else {
		*into = m->to->nodes_cnt++;
		m->to->nodes[*into] = (struct profile_node){
			.parent = parent,
			.function = n->function,
			.thread = group,
			.stats = n->stats,
		};
	}
	m->merged[node] = *into;
}

/* Gives a group the name of one more of its threads or programs, which are of one kind: "worker-1",
 * or "worker-*" if it has another name already. */
static void name_kind(char name[sizeof(((struct profile_thread *)0)->comm)], const char *comm)
{
	size_t size = sizeof(((struct profile_thread *)0)->comm);

	if (!*name)
		snprintf(name, size, "%s", comm);
	else if (strcmp(name, comm) != 0)
		snprintf(name, size, "%.*s*", (int)thread_kind__len(comm), comm);
}

/* Counts order[i] as one of the threads and processes that `group` is made of. */
static void count_thread(const struct merge *m, size_t i, struct profile_thread *group)
{
	const struct profile_thread *t = &m->from->threads[m->order[i]];
	bool first = !group->merged_cnt;

	group->merged_cnt += t->merged_cnt ? t->merged_cnt : 1;
	if (m->by == MERGE_COMM)
		return;
	name_kind(group->comm, t->comm);
	if (t->pid && (first || t->pid != m->from->threads[m->order[i - 1]].pid))
		group->merged_pids++;
	if (m->by == MERGE_PROGRAM)
		name_kind(group->program, m->programs[m->order[i]]);
}

static void merge_all(struct merge *m)
{
	struct profile *to = m->to;
	size_t i;

	for (i = 0; i < m->order_cnt; i++) {
		const struct profile_thread *t = &m->from->threads[m->order[i]];
		struct walk w = walk__from(m->from, t->first_root);

		if (!i || compare_groups(m, m->order[i - 1], m->order[i])) {
			to->threads[to->threads_cnt] = *t;
			to->threads[to->threads_cnt].callstack_ns = 0;
			to->threads[to->threads_cnt++].merged_cnt = 0;
		}
		if (m->by != MERGE_CALLSTACKS)
			count_thread(m, i, &to->threads[to->threads_cnt - 1]);
		while (walk__next(&w))
			if (w.entering)
				merge_node(m, w.node, to->threads_cnt - 1);
	}
}

static int merge_alloc(struct merge *m)
{
	const struct profile *from = m->from;
	struct profile *to;

	if (profile__copy_all_but_paths(from, &m->to))
		return -ENOMEM;
	to = m->to;
	to->threads = calloc(from->threads_cnt + 1, sizeof(*to->threads));
	to->nodes = calloc(from->nodes_cnt + 1, sizeof(*to->nodes));
	to->nodes_cnt = 1;
	m->order = calloc(from->threads_cnt + 1, sizeof(*m->order));
	m->merged = calloc(from->nodes_cnt + 1, sizeof(*m->merged));
	m->programs = calloc(from->threads_cnt + 1, sizeof(*m->programs));
	if (!to->threads || !to->nodes || !m->order || !m->merged || !m->programs)
		return -ENOMEM;
	return path_map__init(&m->map, from->nodes_cnt);
}

int profile__merge_threads(const struct profile *p, enum merge_by by, struct profile **out)
{
	struct merge m = {.from = p, .by = by};
	int err;

	err = merge_alloc(&m);
	if (err)
		goto out;
	if (by == MERGE_PROGRAM)
		find_programs(&m);
	sort_threads(&m);
	merge_all(&m);
	err = profile__connect(m.to);
out:
	path_map__fini(&m.map);
	free(m.order);
	free(m.programs);
	free(m.merged);
	if (err)
		profile__free(m.to);
	else
		*out = m.to;
	return err;
}

int profile__join_callstacks(struct profile **p)
{
	struct profile *joined;
	bool needed = false;
	int err;

	for (size_t i = 0; i < (*p)->threads_cnt && !needed; i++)
		needed = (*p)->threads[i].callstack_ns;
	if (!needed)
		return 0;
	err = profile__merge_threads(*p, MERGE_CALLSTACKS, &joined);
	if (err)
		return err;
	joined->sessions = (*p)->sessions;
	(*p)->sessions = NULL;
	profile__free(*p);
	*p = joined;
	return 0;
}
