// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel counts in one half of its table while the other is emptied here. A half is read when
 * no program can be writing to it any more: one that has begun before the turn ends within
 * microseconds, as it runs in an interrupt, and the next poll is a tenth of a second later.
 */
#include "collect/sample_store.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls/profile.h"
#include "tables/bpf_tables.h"
#include "tables/file_names.h"
#include "tables/stack_copy.h"
#include "util/array.h"

int sample_store__init(struct sample_store *s, const struct bpf_tables *t)
{
	if (!t->samples)
		return 0;
	s->callstacks = calloc(t->info.callstacks_cap, sizeof(*s->callstacks));
	return s->callstacks ? 0 : -ENOMEM;
}

void sample_store__forget(struct sample_store *s, uint32_t number)
{
	if (number < s->callstacks_end)
		sample_tree__fini(&s->callstacks[number].tree);
}

void sample_store__fini(struct sample_store *s)
{
	/* Most of the table has never been touched, and is to get no memory now. */
	for (uint32_t i = 0; i < s->callstacks_end; i++)
		sample_store__forget(s, i);
	for (size_t i = 0; i < s->threads_cnt; i++)
		sample_tree__fini(&s->threads[i].tree);
	free(s->callstacks);
	free(s->threads);
	free(s->threads_index);
	code_functions__fini(&s->names);
	*s = (struct sample_store){0};
}

/* Asks for the functions of a place of a file, or of the kernel. -EAGAIN: they may be more later.
 */
static int ask(struct sample_store *s, const struct code_place *at, uint32_t *functions,
	       size_t *cnt)
{
	int err = s->resolve(at, functions, s->ctx);

	*cnt = 0;
	if (!err && s->inlined && at->object < COLLECTOR_OBJECTS)
		err = s->inlined(at, functions + 1, cnt, s->ctx);
	(*cnt)++;
	return err;
}

/* The resolver is asked once for an address of the kernel's, or of a file in whatever process. What
 * has no file may be another function an instant later. */
int sample_store__functions_at(struct sample_store *s, const struct code_place *at,
			       uint32_t functions[CODE_FUNCTIONS], size_t *cnt)
{
	bool in_kernel = at->object == RESOLVE_KERNEL;
	uint64_t address = in_kernel ? at->vaddr : (uint64_t)at->object << 48 | at->vaddr;
	const uint32_t *known;
	int err;

	*cnt = 1;
	if (at->object == WIRE_CALLERS_NO_OBJECT)
		return s->resolve(at, functions, s->ctx);
	known = code_functions__find(&s->names, address, cnt);
	if (known) {
		memcpy(functions, known, *cnt * sizeof(*functions));
		return 0;
	}
	err = ask(s, at, functions, cnt);
	if (err == -EAGAIN)
		return 0;
	return err ? err : code_functions__add(&s->names, address, functions, *cnt);
}

/* The function of a place where nothing is inlined. */
static int function_at(struct sample_store *s, const struct code_place *at, uint32_t *function)
{
	uint32_t functions[CODE_FUNCTIONS];
	size_t cnt;
	int err = sample_store__functions_at(s, at, functions, &cnt);

	*function = functions[0];
	return err;
}

#define PROGRAM_FUNCTIONS (WIRE_CALLERS_FRAMES * CODE_FUNCTIONS)
#define SAMPLE_FUNCTIONS  (PROGRAM_FUNCTIONS + WIRE_SAMPLE_KERNEL + 1)
#define WAIT_FUNCTIONS	  (PROGRAM_FUNCTIONS + 4)

/* The place in the program of a frame. In the innermost frame it is the instruction itself; in
 * others it lies before the return address. */
static struct code_place frame_place(const struct wire_callers *user, uint32_t frame)
{
	return code_place(user->pid, user->frames[frame] + !frame);
}

/* The functions that were inlined where the open call itself was, whose path `node` is. Where what
 * has that code is another function, the path is a region's, or the call has gone on elsewhere. */
static int own_functions(struct sample_store *s, const struct bpf_tables *t,
			 const struct wire_callers *user, uint32_t node, uint32_t *functions,
			 size_t *cnt)
{
	uint32_t own[CODE_FUNCTIONS];
	struct code_place at;
	size_t own_cnt;
	int err;

	*cnt = 0;
	if (!s->inlined || !user->own || user->cnt >= WIRE_CALLERS_FRAMES ||
	    !bpf_tables__node(t, node))
		return 0;
	at = frame_place(user, user->cnt);
	err = sample_store__functions_at(s, &at, own, &own_cnt);
	if (err || own[0] != (t->nodes[node].function & ~WIRE_NODE_BURST))
		return err;
	*cnt = own_cnt - 1;
	memcpy(functions, own + 1, *cnt * sizeof(*own));
	return 0;
}

/* The functions of the program below the path `node`, outermost first. */
static int program_functions(struct sample_store *s, const struct bpf_tables *t,
			     const struct wire_callers *user, uint32_t node, uint32_t *functions,
			     size_t *cnt)
{
	uint32_t frames = user->cnt < WIRE_CALLERS_FRAMES ? user->cnt : WIRE_CALLERS_FRAMES;
	int err = own_functions(s, t, user, node, functions, cnt);

	while (!err && frames-- > 0) {
		const struct code_place at = frame_place(user, frames);
		size_t more;

		err = sample_store__functions_at(s, &at, functions + *cnt, &more);
		*cnt += more;
	}
	return err;
}

/* The functions of a sample, and so of the kernel. */
static int functions_of(struct sample_store *s, const struct bpf_tables *t,
			const struct wire_sample *e, uint32_t *functions, size_t *cnt)
{
	uint32_t kernel = e->kernel_cnt < WIRE_SAMPLE_KERNEL ? e->kernel_cnt : WIRE_SAMPLE_KERNEL;
	const struct code_place call = {.object = RESOLVE_CALL, .vaddr = e->call + 1};
	int err = program_functions(s, t, &e->user, e->spot.node, functions, cnt);

	/* A process that has begun and whose mappings are not known yet. */
	if (!err && !*cnt && !e->spot.node) {
		const struct code_place nowhere = {.object = RESOLVE_NOWHERE, .vaddr = 1};

		err = function_at(s, &nowhere, &functions[(*cnt)++]);
	}
	for (uint32_t i = kernel; !err && i-- > 0;) {
		const struct code_place at = {.object = RESOLVE_KERNEL, .vaddr = e->kernel[i] + !i};

		err = function_at(s, &at, &functions[*cnt]);
		if (!err && functions[*cnt] == RESOLVED_NAMELESS)
			err = function_at(s, &call, &functions[*cnt]);
		else
			s->kernel_named = true;
		/* Functions that have no names are one. */
		if (!*cnt || functions[*cnt] != functions[*cnt - 1])
			(*cnt)++;
	}
	return err;
}

#define MOST_GOROUTINES 4096 /* with samples of their own; others stand below their threads */

static bool is_same(const struct thread_samples *a, const struct thread_samples *b)
{
	return a->pid_tgid == b->pid_tgid && a->start_ns == b->start_ns && a->goid == b->goid;
}

/* The place in the index of a thread, or the free one for it. */
static uint32_t *thread_place(struct sample_store *s, const struct thread_samples *t)
{
	uint64_t hash = (t->pid_tgid ^ t->start_ns) * 0x9e3779b97f4a7c15ull;

	hash = (hash ^ t->goid) * 0x9e3779b97f4a7c15ull >> 32;
	for (;; hash++) {
		uint32_t *at = &s->threads_index[hash & (s->threads_index_size - 1)];

		if (!*at || is_same(&s->threads[*at - 1], t))
			return at;
	}
}

static int grow_threads_index(struct sample_store *s)
{
	size_t size = s->threads_index_size ? s->threads_index_size * 2 : 64;
	uint32_t *index = calloc(size, sizeof(*index));

	if (!index)
		return -ENOMEM;
	free(s->threads_index);
	s->threads_index = index;
	s->threads_index_size = size;
	for (size_t i = 0; i < s->threads_cnt; i++)
		*thread_place(s, &s->threads[i]) = i + 1;
	return 0;
}

/* The thread, or the goroutine, whose the place is; made if need be. NULL: no memory. */
static struct thread_samples *thread_of(struct sample_store *s, const struct thread_samples *t)
{
	uint32_t *at;

	if (s->threads_index_size <= s->threads_cnt * 2 && grow_threads_index(s))
		return NULL;
	at = thread_place(s, t);
	if (*at)
		return &s->threads[*at - 1];
	if (t->goid && s->goroutines_cnt >= MOST_GOROUTINES)
		return NULL;
	if (ARRAY_RESERVE(&s->threads, s->threads_cnt, &s->threads_cap))
		return NULL;
	s->threads[s->threads_cnt] = *t;
	*at = ++s->threads_cnt;
	s->goroutines_cnt += t->goid != 0;
	return &s->threads[*at - 1];
}

static struct sample_tree *thread_tree(struct sample_store *s, const struct wire_spot *e)
{
	const struct thread_samples thread = {.pid_tgid = e->pid_tgid, .start_ns = e->start_ns};
	const struct thread_samples goroutine = {
		.pid_tgid = e->pid_tgid >> 32 << 32, .start_ns = e->start_ns, .goid = e->goid};
	struct thread_samples *t = e->goid ? thread_of(s, &goroutine) : NULL;

	if (!t)
		t = thread_of(s, &thread);
	if (!t)
		return NULL;
	memcpy(t->comm, e->comm, sizeof(t->comm) - 1);
	return &t->tree;
}

/* The tree of a call stack; NULL: it is gone. */
static struct sample_tree *callstack_tree(struct sample_store *s, const struct bpf_tables *t,
					  const struct wire_spot *e)
{
	const struct wire_callstack *callstack = bpf_tables__callstack(t, e->callstack);
	struct callstack_samples *of;

	if (!callstack || callstack->state != WIRE_CALLSTACK_READY || callstack->lives != e->lives)
		return NULL;
	of = &s->callstacks[e->callstack];
	of->lives = e->lives;
	if (e->callstack >= s->callstacks_end)
		s->callstacks_end = e->callstack + 1;
	return &of->tree;
}

/* The tree of a place; NULL: its call stack is gone, or there is no memory (without a node). */
static struct sample_tree *tree_of(struct sample_store *s, const struct bpf_tables *t,
				   const struct wire_spot *e)
{
	return e->node ? callstack_tree(s, t, e) : thread_tree(s, e);
}

/* The sample is of code of the program's own, not of what the kernel does for it. */
static void tell_met(const struct sample_store *s, const struct wire_sample *e)
{
	if (s->met && !e->kernel_cnt && e->user.cnt)
		s->met(frame_place(&e->user, 0).object, e->cnt * s->weight_ns, s->ctx);
}

static int take(struct sample_store *s, const struct bpf_tables *t, const struct wire_sample *e)
{
	uint32_t functions[SAMPLE_FUNCTIONS];
	struct sample_tree *tree;
	size_t cnt;
	int err;

	tell_met(s, e);
	err = functions_of(s, t, e, functions, &cnt);
	if (err)
		return err;
	for (size_t i = 0; i < cnt; i++) {
		if (functions[i] == RESOLVED_PROBING) {
			s->probing += e->cnt;
			return 0;
		}
	}
	tree = tree_of(s, t, &e->spot);
	if (!tree && !e->spot.node)
		return -ENOMEM;
	if (!tree) {
		s->late += e->cnt;
		return 0;
	}
	if (e->user.end < WIRE_CALLERS_ENDS)
		s->ends[e->user.end] += e->cnt;
	s->stood_ns += (double)e->cnt * (double)s->weight_ns;
	s->stood_ns2 += (double)e->cnt * (double)s->weight_ns * (double)s->weight_ns;
	return sample_tree__add(tree, &(struct sample_place){e->spot.node, functions, cnt},
				&(struct sample_figures){e->cnt, e->cnt * s->weight_ns, 0});
}

/* Whether the node is a path that ends in that function. */
static bool is_path_of(const struct bpf_tables *t, uint32_t node, uint32_t function)
{
	return bpf_tables__node(t, node) && t->nodes[node].parent &&
	       t->nodes[node].function == function;
}

#define ROLE_FUNCTIONS 4 /* the innermost that are looked at: the C library's */

/* *object = RESOLVE_LOCK; or, by the functions that the wait is below, RESOLVE_READ, RESOLVE_WRITE
 * or RESOLVE_PAIR. */
static int find_role(struct sample_store *s, const uint32_t *functions, size_t cnt,
		     uint32_t *object)
{
	size_t looked = cnt < ROLE_FUNCTIONS ? cnt : ROLE_FUNCTIONS;
	const struct waker_path path = {.functions = functions + cnt - looked, .cnt = looked};
	const struct code_place at = {.object = RESOLVE_ROLE, .waker = &path};

	int err = s->resolve(&at, object, s->ctx);

	if (*object != RESOLVE_READ && *object != RESOLVE_WRITE && *object != RESOLVE_PAIR)
		*object = RESOLVE_LOCK;
	return err;
}

/* The functions of a wait: behind the program's the system call, why it waits, and for which lock
 * or file. */
static int wait_functions(struct sample_store *s, const struct bpf_tables *t,
			  const struct wire_wait *w, uint32_t reason, uint32_t *functions,
			  size_t *cnt)
{
	bool is_lock = w->reason == WIRE_REASON_LOCK;
	const char *file = w->lock && !is_lock ? file_names__at(s->files, t, w->lock - 1) : NULL;
	struct code_place leaves[] = {
		{.object = RESOLVE_CALL, .vaddr = w->call + 1},
		{.object = RESOLVE_REASON, .vaddr = reason + 1},
		{.pid = w->spot.pid_tgid >> 32,
		 .object = file ? RESOLVE_FILE : RESOLVE_LOCK,
		 .vaddr = w->lock + 1,
		 .file = file},
	};
	size_t leaves_cnt = reason == w->reason && ((is_lock && w->lock) || file) ? 3 : 2;
	int err = program_functions(s, t, &w->user, w->spot.node, functions, cnt);

	if (!err && is_lock && leaves_cnt == 3)
		err = find_role(s, functions, *cnt, &leaves[2].object);
	for (size_t i = 0; !err && i < leaves_cnt; i++) {
		err = function_at(s, &leaves[i], &functions[*cnt]);
		/* With --syscalls the path ends in the system call itself. */
		if (i || *cnt || !is_path_of(t, w->spot.node, functions[0]))
			(*cnt)++;
	}
	return err;
}

/* The functions of the path `node`, outermost first, of which those without a name are left out.
 * Returns how many, at most `cap`: the innermost. */
static size_t node_functions(const struct bpf_tables *t, uint32_t node, uint32_t *functions,
			     size_t cap)
{
	size_t cnt = 0;

	for (; cnt < cap && bpf_tables__node(t, node) && t->nodes[node].parent;
	     node = t->nodes[node].parent) {
		uint32_t function = t->nodes[node].function & ~WIRE_NODE_BURST;

		if (function < WIRE_MAX_FUNCTIONS)
			functions[cnt++] = function;
	}
	for (size_t i = 0; i < cnt / 2; i++) {
		uint32_t last = functions[cnt - 1 - i];

		functions[cnt - 1 - i] = functions[i];
		functions[i] = last;
	}
	return cnt;
}

int sample_store__waker(struct sample_store *s, const struct bpf_tables *t,
			const struct wire_wait *w, bool holds, uint32_t *function)
{
	uint32_t functions[WAKER_FUNCTIONS + PROGRAM_FUNCTIONS];
	size_t above = node_functions(t, w->spot.node, functions, WAKER_FUNCTIONS), below;
	int err = program_functions(s, t, &w->user, w->spot.node, functions + above, &below);
	struct waker_path path = {w->spot.comm, functions, above + below, holds};
	const struct code_place at = {.object = RESOLVE_WAKER, .waker = &path};

	if (err)
		return err;
	if (path.cnt > WAKER_FUNCTIONS) {
		path.functions += path.cnt - WAKER_FUNCTIONS;
		path.cnt = WAKER_FUNCTIONS;
	}
	return s->resolve(&at, function, s->ctx);
}

int sample_store__add_wait(struct sample_store *s, const struct bpf_tables *t,
			   const struct wire_wait *w, const struct wait_end *end)
{
	uint32_t functions[WAIT_FUNCTIONS];
	struct sample_tree *tree = tree_of(s, t, &w->spot);
	size_t cnt;
	int err;

	if (!tree)
		return w->spot.node ? 0 : -ENOMEM;
	err = wait_functions(s, t, w, end->reason, functions, &cnt);
	if (err)
		return err;
	if (end->waker)
		functions[cnt++] = *end->waker;
	return sample_tree__add(tree, &(struct sample_place){w->spot.node, functions, cnt},
				&(struct sample_figures){.off_ns = end->ns});
}

static int fetch(struct sample_store *s, const struct bpf_tables *t, uint32_t half)
{
	struct wire_sample *places = &t->samples[(size_t)half * t->info.samples_cap];
	int err = 0;

	for (uint32_t i = 0; !err && i < t->info.samples_cap; i++) {
		if (!places[i].hash)
			continue;
		err = take(s, t, &places[i]);
		memset(&places[i], 0, sizeof(places[i]));
	}
	return err;
}

/* Programs count in the other half from here on; but for those that run already. */
static uint32_t turn(const struct bpf_tables *t)
{
	uint32_t half = *t->info.samples_half;

	__atomic_store_n(t->info.samples_half, !half, __ATOMIC_SEQ_CST);
	return half;
}

int sample_store__poll(struct sample_store *s, const struct bpf_tables *t)
{
	int err;

	if (!s->callstacks || !(s->resolve || s->bare))
		return 0;
	err = fetch(s, t, !*t->info.samples_half);
	turn(t);
	return err;
}

int sample_store__settle(struct sample_store *s, const struct bpf_tables *t)
{
	int err;

	if (!s->callstacks || !(s->resolve || s->bare))
		return 0;
	err = fetch(s, t, !*t->info.samples_half);
	turn(t);
	/* Waits for all programs that run. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(1000);
	return err ? err : fetch(s, t, !*t->info.samples_half);
}

/* Adds a tree's paths below those of the copy. scratch[]: where a base is in it; at[]: where the
 * tree's paths are. */
static void put_tree(const struct sample_tree *tree, const uint32_t *scratch, struct copy_paths *x,
		     uint32_t *at)
{
	for (size_t i = 0; i < tree->cnt; i++) {
		const struct sample_tree_node *n = &tree->nodes[i];
		uint32_t base = n->base && scratch ? scratch[n->base] : STACK_COPY_ROOT;

		at[i] = n->parent ? at[n->parent - 1] : base;
		if (n->function != SAMPLE_TREE_SELF)
			at[i] = copy_paths__node(x, at[i], n->function);
		if ((n->samples || n->off_ns) && at[i] != STACK_COPY_ROOT)
			copy_paths__sample(x, &(struct stack_copy_sample){.base = base,
									  .node = at[i],
									  .cnt = n->samples,
									  .ns = n->ns,
									  .off_ns = n->off_ns});
	}
}

/* *out = the copy, with the samples of the tree. */
static int merge(const struct stack_copy *copy, const struct sample_tree *tree, uint32_t *scratch,
		 struct stack_copy **out)
{
	uint32_t *at = calloc(copy->nodes_cnt + tree->cnt + 1, sizeof(*at));
	struct copy_paths x = {0};
	int err = at ? copy_paths__init(&x, copy, copy->nodes_cnt + tree->cnt, tree->cnt) : -ENOMEM;

	for (uint32_t i = 0; !err && i < copy->nodes_cnt; i++) {
		const struct stack_copy_node *n = &copy->nodes[i];

		at[i] = copy_paths__node(&x, n->parent < i ? at[n->parent] : STACK_COPY_ROOT,
					 n->function);
		copy_paths__add(&x, at[i], n);
		scratch[n->number] = at[i];
	}
	if (!err)
		put_tree(tree, scratch, &x, at + copy->nodes_cnt);
	for (uint32_t i = 0; !err && i < copy->nodes_cnt; i++)
		scratch[copy->nodes[i].number] = STACK_COPY_ROOT;
	copy_paths__fini(&x);
	free(at);
	*out = x.to;
	return err;
}

int sample_store__put(struct sample_store *s, const struct bpf_tables *t, uint32_t number,
		      uint32_t *scratch, struct stack_copy **copy)
{
	const struct callstack_samples *of = s->callstacks ? &s->callstacks[number] : NULL;
	struct stack_copy *merged;
	int err;

	if (!of || !of->tree.cnt || !*copy || of->lives != t->callstacks[number].lives)
		return 0;
	err = merge(*copy, &of->tree, scratch, &merged);
	if (err)
		return err;
	free(*copy);
	*copy = merged;
	return 0;
}

int sample_store__unmet(struct sample_store *s, uint32_t *function)
{
	return function_at(s, &(struct code_place){.object = RESOLVE_UNMET}, function);
}

int sample_store__thread(const struct sample_store *s, size_t thread, struct stack_copy **out)
{
	const struct thread_samples *t = &s->threads[thread];
	struct stack_copy empty = {
		.pid = t->pid_tgid >> 32,
		.tid = (uint32_t)t->pid_tgid,
		.start_ns = t->start_ns,
		.goroutine = t->goid,
		.callstack_ns = SAMPLED_OUTSIDE,
	};

	memcpy(empty.comm, t->comm, sizeof(empty.comm));
	return merge(&empty, &t->tree, NULL, out);
}

/* Sums over all CPUs. */
static struct wire_sample_counts counts(const struct bpf_tables *t)
{
	struct wire_sample_counts sum = {0};

	for (int i = 0; i < WIRE_CPUS; i++) {
		const volatile struct wire_sample_counts *c = &t->info.sample_counts[i];

		sum.taken += c->taken;
		sum.probing += c->probing;
		sum.lost += c->lost;
		sum.ns += c->ns;
	}
	return sum;
}

void sample_store__set_period(struct sample_store *s, const struct bpf_tables *t, uint64_t ns)
{
	s->before = s->callstacks ? counts(t).taken : 0;
	s->before_ns = s->cpu_ns;
	s->period_ns = s->weight_ns = ns;
}

uint64_t sample_store__period(const struct sample_store *s)
{
	return s->stood_ns > 0 ? (uint64_t)(s->stood_ns2 / s->stood_ns + 0.5) : s->weight_ns;
}

struct samples_so_far sample_store__so_far(const struct sample_store *s, const struct bpf_tables *t)
{
	struct wire_sample_counts sum = {0};

	if (s->callstacks)
		sum = counts(t);
	return (struct samples_so_far){
		.taken = sum.taken, .probing = sum.probing + s->probing, .ns = sum.ns};
}

#define WEIGHED_MIN 16 /* samples; fewer say nothing */

/*
 * The clock of a virtual machine's processor misses some of its time, a fifth on a busy host: so
 * samples stand for the CPU time that the target has had, together.
 */
void sample_store__weigh(struct sample_store *s, const struct bpf_tables *t, uint64_t cpu_ns)
{
	uint64_t taken, weight;

	if (!s->callstacks)
		return;
	s->weight_ns = s->period_ns;
	s->cpu_ns = cpu_ns;
	taken = counts(t).taken - s->before;
	if (taken < WEIGHED_MIN || cpu_ns <= s->before_ns)
		return;
	weight = (cpu_ns - s->before_ns) / taken;
	if (weight < s->period_ns / 2)
		weight = s->period_ns / 2;
	s->weight_ns = weight < s->period_ns * 4 ? weight : s->period_ns * 4;
}

void sample_store__account(const struct sample_store *s, const struct bpf_tables *t,
			   struct profile_accounting *a)
{
	struct wire_sample_counts sum;

	if (!s->callstacks || s->bare)
		return;
	sum = counts(t);
	a->samples_taken = sum.taken;
	a->samples_probing = sum.probing + s->probing;
	a->samples_lost = sum.lost + s->late;
	a->sample_ns = sum.ns;
	a->samples_whole = s->ends[WIRE_CALLERS_WHOLE];
	a->samples_no_rule = s->ends[WIRE_CALLERS_NO_RULE];
	a->samples_unreadable = s->ends[WIRE_CALLERS_UNREADABLE];
	a->samples_astray = s->ends[WIRE_CALLERS_ASTRAY];
	a->samples_deep = s->ends[WIRE_CALLERS_DEEP];
	a->samples_unknown = s->ends[WIRE_CALLERS_UNKNOWN];
}
