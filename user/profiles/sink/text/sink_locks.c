// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One block for each lock that threads have waited for, the dearest first: where they waited, and
 * who has released it. All of that is in the tree: a lock is a function below the path that waits,
 * and those who have ended the waits are functions below the lock.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "sink/text/footer.h"
#include "sink/text/lock_parties.h"
#include "sink/text/printer.h"
#include "timeline/lock_kinds.h"
#include "timeline/rwlocks.h"
#include "timeline/waits.h"
#include "util/array.h"
#include "util/text.h"

#define LOCK_PREFIX   "[lock "
#define WAKER_PREFIX  "[by "
#define HOLDER_PREFIX "[held by "
#define SHOWN	      5 /* waiters of a lock, and wakers, unless -v asks for all */
#define PATH_SHOWN    4 /* functions of a waiter's path, the innermost */
#define LIBC_DEPTH    8 /* functions of the libc that are looked at, one in the other */

/* A lock: a run of parties. */
struct lock {
	size_t first, cnt_parties;
	uint64_t ns;
	uint64_t cnt, longest_ns; /* of single waits */
	int rank;
};

static bool is_wait(const struct profile *p, uint32_t function, const char *prefix)
{
	const struct profile_function *f = &p->functions[function];

	return function__is_wait(f) && f->name && !strncmp(f->name, prefix, strlen(prefix));
}

static const char *const kind_words[] = {
	[KIND_LOCK] = "lock",
	[KIND_CONDITION] = "condition",
	[KIND_SEMAPHORE] = "semaphore",
	[KIND_RWLOCK] = "rwlock",
	[KIND_BARRIER] = "barrier",
	[KIND_THREAD] = "end of thread",
	[KIND_UNKNOWN] = "lock or condition",
};

/* The innermost function of the program's: above the lock are its reason and the system call. */
static uint32_t waiting_node(const struct profile *p, uint32_t lock_node)
{
	uint32_t reason = p->nodes[lock_node].parent;

	return p->nodes[p->nodes[reason].parent].parent;
}

/* By the innermost function that is known, which *node becomes: of a lock's, one in the other, the
 * outermost. All up to it are of one file, the libc. */
static enum lock_kind find_kind(const struct profile *p, uint32_t *node)
{
	const char *module = *node ? p->functions[p->nodes[*node].function].module : NULL;
	uint32_t at = *node;
	bool is_lock = false;

	for (int i = 0; i < LIBC_DEPTH && at && module; i++, at = p->nodes[at].parent) {
		const struct profile_function *f = &p->functions[p->nodes[at].function];
		enum lock_kind kind;

		if (!f->module || strcmp(f->module, module))
			break;
		if (!lock_kind__of(function__name(f), &kind))
			continue;
		if (kind != KIND_LOCK && is_lock)
			break;
		*node = at;
		if (kind != KIND_LOCK)
			return kind;
		is_lock = true;
	}
	return KIND_LOCK;
}

/* The thread, and the innermost functions, without what the libc's that is known calls. */
static void name_waiter(const struct profile *p, uint32_t lock_node, char *name)
{
	uint32_t path[PATH_SHOWN], cnt = 0, node = waiting_node(p, lock_node);
	int len = snprintf(name, PATH_SIZE, "%s:", p->threads[p->nodes[lock_node].thread].comm);

	find_kind(p, &node);
	for (; node && cnt < PATH_SHOWN; node = p->nodes[node].parent)
		path[cnt++] = p->nodes[node].function;
	for (uint32_t i = cnt; i-- > 0 && len < PATH_SIZE;)
		len += snprintf(name + len, PATH_SIZE - len, "%s%.64s", i + 1 < cnt ? " › " : " ",
				function__name(&p->functions[path[i]]));
}

/* The length of the lock's name in "table_lock, as a writer]" or "shards[3].lock]". */
static int name_len(const char *name)
{
	const char *end = strstr(name, ", as a ");

	end = end ? end : strrchr(name, ']');
	return end ? (int)(end - name) : (int)strlen(name);
}

/* The lock's name without brackets: "0x5581a0", "table_lock", "log_file+0x44". */
static void set_label(struct party *party, const char *function)
{
	const char *name = function + strlen(LOCK_PREFIX);
	int len = name_len(name);
	const char *number = strstr(name, "0x");
	uint64_t address = number ? strtoull(number, NULL, 16) : 0;

	address = lock_kind__address(party->kind, address);
	if (number == name)
		party->lock = address;
	if (number && (number == name || number[-1] == '+'))
		snprintf(party->label, LABEL_SIZE, "%.*s0x%" PRIx64, (int)(number - name), name,
			 address);
	else
		snprintf(party->label, LABEL_SIZE, "%.*s", len, name);
}

/* Adds a party of the lock, with its label. */
static struct party *add(struct parties *t, const struct profile *p, uint32_t lock_node)
{
	const struct profile_node *n = &p->nodes[lock_node];
	uint32_t node = waiting_node(p, lock_node);
	struct party *party;

	if (ARRAY_RESERVE(&t->all, t->cnt, &t->cap))
		return NULL;
	party = &t->all[t->cnt++];
	*party = (struct party){
		.pid = p->threads[n->thread].pid,
		.kind = find_kind(p, &node),
	};
	if (party->kind == KIND_RWLOCK)
		party->role = rwlock__role(function__name(&p->functions[p->nodes[node].function]));
	set_label(party, function__name(&p->functions[n->function]));
	return party;
}

static int add_lock(struct parties *t, const struct profile *p, uint32_t node)
{
	struct party *party = add(t, p, node);

	if (!party)
		return -ENOMEM;
	party->ns = p->nodes[node].stats.off_ns;
	name_waiter(p, node, party->name);
	for (uint32_t i = p->nodes[node].first_child; i; i = p->nodes[i].next_sibling) {
		const char *by = function__name(&p->functions[p->nodes[i].function]);

		bool holds = is_wait(p, p->nodes[i].function, HOLDER_PREFIX);

		if (!holds && !is_wait(p, p->nodes[i].function, WAKER_PREFIX))
			continue;
		party = add(t, p, node);
		if (!party)
			return -ENOMEM;
		party->releases = true;
		party->holds = holds;
		party->role = WAIT_OBJECT_NONE;
		party->ns = p->nodes[i].stats.off_ns;
		by += strlen(holds ? HOLDER_PREFIX : WAKER_PREFIX);
		snprintf(party->name, sizeof(party->name), "%.*s", (int)strlen(by) - 1, by);
	}
	return 0;
}

static int same_lock(const struct party *x, const struct party *y)
{
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return strcmp(x->label, y->label);
}

static int compare_names(const void *a, const void *b)
{
	const struct party *x = a, *y = b;
	int order = same_lock(x, y);

	if (!order)
		order = x->releases - y->releases;
	if (!order)
		order = x->holds - y->holds;
	if (!order)
		order = (x->role > y->role) - (x->role < y->role);
	return order ? order : strcmp(x->name, y->name);
}

static int compare_times(const void *a, const void *b)
{
	const struct party *x = a, *y = b;

	if (x->releases != y->releases)
		return x->releases - y->releases;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Mutexes and rwlocks hold threads up; those who wait for a condition, or what may be one, may have
 * nothing else to do, as workers have that wait for work. */
static int rank_of(enum lock_kind kind)
{
	return kind == KIND_LOCK || kind == KIND_RWLOCK ? 0 : kind == KIND_BARRIER ? 1 : 2;
}

static int compare_locks(const void *a, const void *b)
{
	const struct lock *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank - y->rank;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Makes one of parties of the same name, and finds the locks: those of `out`, in order. Returns how
 * many. */
static size_t gather(struct parties *t, struct lock *out)
{
	size_t cnt = 0, locks = 0;

	if (t->cnt)
		qsort(t->all, t->cnt, sizeof(*t->all), compare_names);
	for (size_t i = 0; i < t->cnt; i++) {
		struct party *last = cnt ? &t->all[cnt - 1] : NULL;

		if (last && !compare_names(last, &t->all[i])) {
			last->ns += t->all[i].ns;
			last->cnt += t->all[i].cnt;
		} else {
			if (!last || same_lock(last, &t->all[i]))
				out[locks++] = (struct lock){.first = cnt,
							     .rank = rank_of(t->all[i].kind)};
			out[locks - 1].cnt_parties++;
			t->all[cnt++] = t->all[i];
		}
		if (t->all[i].releases)
			continue;
		out[locks - 1].ns += t->all[i].ns;
		out[locks - 1].cnt += t->all[i].cnt;
		if (t->all[i].longest_ns > out[locks - 1].longest_ns)
			out[locks - 1].longest_ns = t->all[i].longest_ns;
	}
	t->cnt = cnt;
	for (size_t i = 0; i < locks; i++)
		qsort(&t->all[out[i].first], out[i].cnt_parties, sizeof(*t->all), compare_times);
	if (locks)
		qsort(out, locks, sizeof(*out), compare_locks);
	return locks;
}

/* The deed of a party: "waited in", "readers in" of an rwlock. */
static const char *deed_of(const struct party *party)
{
	return party->holds			  ? "held by"
	       : party->releases		  ? "released by"
	       : party->role == WAIT_OBJECT_READ  ? "readers in"
	       : party->role == WAIT_OBJECT_WRITE ? "writers in"
						  : "waited in";
}

static int print_party(struct printer *pr, const struct party *party, const struct lock *l)
{
	size_t room = printer__room(pr, 38, PATH_SIZE, 30);
	char ns[32], share[32];
	int err;

	fprintf(pr->out, "  %9s  %6s  %-11s  ", printer__time(pr, party->ns, 0, ns, sizeof(ns)),
		printer__share(party->ns, l->ns, share, sizeof(share)), deed_of(party));
	err = printer__name(pr, party->name, room);
	fputc('\n', pr->out);
	return err < 0 ? err : 0;
}

/* Prints figures of single waits: how many there were, the longest, and how long the lock was held
 * meanwhile. */
static void print_figures(struct printer *pr, const struct lock *l, uint64_t held_ns)
{
	char cnt[32], longest[32], held[32];

	if (pr->profile->waits)
		fprintf(pr->out, "  %7s  %8s  %8s", text_count(l->cnt, cnt, sizeof(cnt)),
			text_duration(l->longest_ns, longest, sizeof(longest)),
			held_ns ? text_duration(held_ns, held, sizeof(held)) : "-");
}

static int print_lock(struct printer *pr, const struct parties *t, const struct lock *l,
		      uint64_t whole)
{
	const struct party *first = &t->all[l->first];
	char ns[32], share[32], label[2 * LABEL_SIZE];
	size_t shown[2] = {0};
	int err = 0;

	fprintf(pr->out, "%s%11s  %6s", printer__style(pr, STYLE_BOLD),
		printer__time(pr, l->ns, 0, ns, sizeof(ns)),
		printer__share(l->ns, whole, share, sizeof(share)));
	print_figures(pr, l, first->held_ns);
	fprintf(pr->out, "  %s %s of process %d%s\n", kind_words[first->kind],
		text_escape(first->label, label, sizeof(label)), first->pid,
		printer__style(pr, STYLE_PLAIN));
	for (size_t i = 0; i < l->cnt_parties && !err; i++) {
		if (pr->opts->verbose || shown[first[i].releases]++ < SHOWN)
			err = print_party(pr, &first[i], l);
	}
	return err;
}

/* The words where there is no lock to show. A run of the whole machine has samples, but no waits.
 */
static const char *why_none(const struct profile *p)
{
	if (!p->waits && !p->sample_period_ns)
		return "locks come with samples: --sample-rate 97; or with single calls: "
		       "--calls\n\n";
	if (!p->waits && !p->probes.functions && !p->accounting.waits)
		return "of the whole machine (-a) no waits are seen: -p NAME shows locks\n\n";
	return "no thread has waited for a lock\n\n";
}

static int print_locks(struct printer *pr, struct parties *t)
{
	struct lock *locks = calloc(t->cnt + 1, sizeof(*locks));
	uint64_t whole = 0;
	size_t cnt, shown = 0;
	int err = 0;

	if (!locks)
		return -ENOMEM;
	cnt = gather(t, locks);
	/* A wait that was cut off by the end may have no time. */
	for (size_t i = 0; i < cnt; i++) {
		if (locks[i].ns)
			locks[shown++] = locks[i];
	}
	cnt = shown;
	for (size_t i = 0; i < cnt; i++)
		whole += locks[i].ns;
	if (cnt)
		fprintf(pr->out, "%s%11s  %6s%s  LOCK%s\n", printer__style(pr, STYLE_DIM), "WAITED",
			"SHARE", pr->profile->waits ? "    WAITS   LONGEST      HELD" : "",
			printer__style(pr, STYLE_PLAIN));
	for (size_t i = 0; i < cnt && !err; i++)
		err = print_lock(pr, t, &locks[i], whole);
	fputs(cnt ? "\n" : why_none(pr->profile), pr->out);
	free(locks);
	return err;
}

static int write_locks(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct printer pr = {.profile = p, .opts = opts, .out = out, .waits_alone = true};
	struct parties parties = {0};
	int err = 0;

	if (p->waits)
		err = single_locks__add(&parties, p);
	for (uint32_t i = 1; i < p->nodes_cnt && !err && !p->waits; i++) {
		if (is_wait(p, p->nodes[i].function, LOCK_PREFIX))
			err = add_lock(&parties, p, i);
	}
	if (!err) {
		stream__begin();
		printer__interval(&pr);
		err = print_locks(&pr, &parties);
	}
	if (!err)
		err = footer__print(&pr, false);
	printer__fini(&pr);
	free(parties.all);
	return err ? err : stream__end(out);
}

const struct sink sink_locks = {
	.name = "locks",
	.help = "locks that threads have waited for, where, and who has released them",
	.accounts = true,
	.names_only = true,
	.reads_calls = true, /* to see from where who released them has jumped */
	.write = write_locks,
};
