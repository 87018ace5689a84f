// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/life.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/links/skeleton.h"
#include "target/process.h"
#include "target/whom.h"
#include "util/log.h"
#include "util/search.h"

#define LONG_WAIT_NS	3000000000ull  /* planning the largest libraries takes a tenth of that */
#define COMMAND_WAIT_NS 60000000000ull /* on a machine with a load of 25 planning took 10 s */
#define BRIEF_WAIT_NS	100000000ull   /* a look takes 2 ms, to give up return probes some 20 */
#define WINDOW		1024	       /* how far events may be out of order */
#define EVENTS_MAX	64	       /* dealt with at a time */

struct life {
	struct proftrace_bpf *skel;
	struct ring_buffer *events;
	/* Events that were dealt with before an earlier one was, by generation. */
	bool done[WINDOW];
	bool lost_track;
	/* of the life__events() under way */
	int (*fn)(const struct life_event *e, void *ctx);
	void *ctx;
	int result;
	unsigned int left; /* before others have their turn */
};

void life__prepare(struct proftrace_bpf *skel, bool children, bool programs, bool command)
{
	const struct pid_namespace own = process__namespace();

	skel->rodata->pid_ns = own.ino;
	skel->rodata->pid_ns_dev = own.dev;
	skel->rodata->follow_forks = children;
	skel->rodata->follow_programs = programs;
	skel->rodata->planner_tgid = getpid();
	skel->rodata->long_wait_ns = command ? COMMAND_WAIT_NS : LONG_WAIT_NS;
	skel->rodata->brief_wait_ns = BRIEF_WAIT_NS;
}

static int on_event(void *ctx, void *data, size_t size)
{
	struct life *l = ctx;
	const struct wire_event *e = data;
	struct life_event event = {.pid = e->pid, .generation = e->generation};

	if (size < sizeof(*e) || l->result)
		return 0;
	switch (e->kind) {
	case WIRE_EVENT_MAPPED:
		event.kind = LIFE_MAPPED;
		break;
	case WIRE_EVENT_EXEC:
		event.kind = LIFE_EXEC;
		event.relink = e->other;
		break;
	case WIRE_EVENT_CONTEXT:
		event.kind = LIFE_CONTEXT;
		break;
	case WIRE_EVENT_STARTED:
		event.kind = LIFE_STARTED;
		break;
	case WIRE_EVENT_ENDED:
		event.kind = LIFE_ENDED;
		break;
	default:
		return 0;
	}
	l->result = l->fn(&event, l->ctx);
	/* This event is done with; a negative value leaves the next ones for the next time. */
	return --l->left ? 0 : -EAGAIN;
}

int life__new(struct proftrace_bpf *skel, struct life **out)
{
	struct life *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->skel = skel;
	l->events = ring_buffer__new(bpf_map__fd(skel->maps.events), on_event, l, NULL);
	if (!l->events) {
		int err = -errno;

		log_error("cannot open the ring buffer for events: %s", strerror(-err));
		free(l);
		return err;
	}
	*out = l;
	return 0;
}

void life__free(struct life *l)
{
	if (!l)
		return;
	ring_buffer__free(l->events);
	free(l);
}

/* `whole`: the zero behind it counts as well. */
static struct wire_whom_name name_of(const char *text, size_t len, bool whole)
{
	char bytes[WIRE_WHOM_NAME] = "", mask[WIRE_WHOM_NAME] = "";
	struct wire_whom_name name;

	memcpy(bytes, text, len);
	memset(mask, 0xff, len + whole);
	memcpy(name.words, bytes, sizeof(bytes));
	memcpy(name.masks, mask, sizeof(mask));
	return name;
}

void life__choose(struct proftrace_bpf *skel, const struct whom_begins *whom)
{
	struct wire_whom *w = &skel->bss->whom;

	*w = (struct wire_whom){.by_user = whom->by_user,
				.uid = whom->uid,
				.certain = whom->certain,
				.own = name_of("proftrace", strlen("proftrace"), true)};
	/* With more names or groups than there is room for, all processes that begin are told of.
	 */
	if (whom->names_cnt > WIRE_WHOM_NAMES || whom->cgroups_cnt > WIRE_WHOM_GROUPS)
		w->certain = false;
	for (size_t i = 0; i < whom->names_cnt && whom->names_cnt <= WIRE_WHOM_NAMES; i++)
		w->names[w->names_cnt++] =
			name_of(whom->names[i].text, whom->names[i].len, whom->names[i].whole);
	for (size_t i = 0; i < whom->cgroups_cnt && whom->cgroups_cnt <= WIRE_WHOM_GROUPS; i++)
		w->groups[w->groups_cnt++] = whom->cgroups[i];
	__atomic_store_n(&w->open, true, __ATOMIC_SEQ_CST);
}

void life__choose_anew(struct life *l, const struct whom_begins *whom)
{
	life__choose(l->skel, whom);
}

bool life__knows(const struct life *l, pid_t pid)
{
	uint32_t tgid = pid, kind;

	return !bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.tgids), &tgid, &kind);
}

/* A walk over the table begins again where an entry goes amid it, as a process ends, and then comes
 * by others once more. */
size_t life__followed(const struct life *l, pid_t *pids, size_t cap)
{
	int fd = bpf_map__fd(l->skel->maps.tgids);
	uint32_t tgid, next, kind;
	bool more = !bpf_map_get_next_key(fd, NULL, &next);
	size_t cnt = 0;

	while (more && cnt < cap) {
		tgid = next;
		more = !bpf_map_get_next_key(fd, &tgid, &next);
		if (!bpf_map_lookup_elem(fd, &tgid, &kind) && kind & WIRE_TGID_FOLLOWED)
			pids[cnt++] = tgid;
	}
	return sort_pids_once(pids, cnt);
}

bool life__join(struct life *l, pid_t pid, bool followed, uint32_t *generation)
{
	uint32_t tgid = pid, kind = followed ? WIRE_TGID_FOLLOWED : WIRE_TGID_NAMED;

	/* The code that the process has mapped may unwind. */
	*generation = __atomic_add_fetch(&l->skel->data->maps_generation, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&l->skel->data->maps_running_unknown, *generation, __ATOMIC_SEQ_CST);
	__atomic_store_n(&l->skel->data->maps_running, *generation, __ATOMIC_SEQ_CST);
	if (bpf_map_update_elem(bpf_map__fd(l->skel->maps.tgids), &tgid, &kind, BPF_NOEXIST))
		return false;
	if (followed) {
		__atomic_fetch_add(&l->skel->data_written->followed_alive, 1, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&l->skel->data_written->followed_cnt, 1, __ATOMIC_SEQ_CST);
	}
	return true;
}

void life__listen(struct life *l)
{
	__atomic_store_n(&l->skel->bss->listening, true, __ATOMIC_SEQ_CST);
}

void life__ignore(struct life *l)
{
	__atomic_store_n(&l->skel->bss->listening, false, __ATOMIC_SEQ_CST);
}

int life__fd(const struct life *l)
{
	return ring_buffer__epoll_fd(l->events);
}

int life__events(struct life *l, int (*fn)(const struct life_event *e, void *ctx), void *ctx)
{
	l->fn = fn;
	l->ctx = ctx;
	l->result = 0;
	l->left = EVENTS_MAX;
	ring_buffer__consume(l->events);
	return l->result;
}

uint32_t life__generation(const struct life *l)
{
	return __atomic_load_n(&l->skel->data->maps_generation, __ATOMIC_SEQ_CST);
}

void life__caught_up(struct life *l, uint32_t generation)
{
	__atomic_store_n(&l->skel->bss->maps_planned, generation, __ATOMIC_SEQ_CST);
}

void life__done(struct life *l, uint32_t generation)
{
	uint32_t planned = l->skel->bss->maps_planned;
	int32_t ahead = generation - planned;

	if (ahead <= 0)
		return; /* covered already, by a look at everything */
	if (ahead > WINDOW) {
		l->lost_track = true;
		return;
	}
	l->done[generation % WINDOW] = true;
	while (l->done[(planned + 1) % WINDOW])
		l->done[++planned % WINDOW] = false;
	life__caught_up(l, planned);
}

bool life__lost_track(const struct life *l)
{
	return l->lost_track || l->skel->data_written->events_lost;
}

bool life__contexts_made(const struct life *l)
{
	return __atomic_load_n(&l->skel->bss->contexts_made, __ATOMIC_SEQ_CST);
}

void life__guard_contexts(struct life *l, bool guard)
{
	__atomic_store_n(&l->skel->bss->contexts_guarded, guard, __ATOMIC_SEQ_CST);
}

void life__stop_returns(struct life *l)
{
	__atomic_store_n(&l->skel->bss->returns_off, true, __ATOMIC_SEQ_CST);
}

void life__hold(struct life *l, bool for_functions, bool for_returns)
{
	__atomic_store_n(&l->skel->bss->wants_later, for_functions, __ATOMIC_SEQ_CST);
	__atomic_store_n(&l->skel->bss->uses_returns, for_returns, __ATOMIC_SEQ_CST);
}

void life__counts(const struct life *l, struct life_counts *out)
{
	*out = (struct life_counts){
		.forks = l->skel->data_written->forks,
		.followed = l->skel->data_written->followed_cnt,
		.followed_alive = l->skel->data_written->followed_alive,
		.late = l->skel->data_written->waits_cut,
		.unheld = l->skel->data_written->starts_unheld,
		.trapped = l->skel->data_written->trapped,
		.shared = l->skel->data_written->returns_shared,
	};
}

/* Kernels without such a count (before 5.12) leave it 0. */
static uint64_t skips_of(const struct proftrace_bpf *skel, const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(skeleton__program(skel, program), &info, &size)
		       ? 0
		       : info.recursion_misses;
}

void life__skips(const struct life *l, struct life_skips *out)
{
	const struct proftrace_bpf *skel = l->skel;
	bool probed = __atomic_load_n(&skel->bss->system_calls_probed, __ATOMIC_SEQ_CST);

	*out = (struct life_skips){
		.ends = skips_of(skel, skel->progs.on_thread_exit),
		/* Two programs look at each exec. One of them is enough, so skips count of the
		 * second one alone. */
		.programs = skips_of(skel, bpf_program__autoload(skel->progs.on_exec_skipped)
						   ? skel->progs.on_exec_skipped
						   : skel->progs.on_exec),
		.forks = skips_of(skel, skel->progs.on_fork),
		.system_calls = skips_of(skel, probed ? skel->progs.call_begin_probe
						      : skel->progs.on_call_begin) +
				skips_of(skel, probed ? skel->progs.call_end_probe
						      : skel->progs.on_call_end),
	};
}

/* Whether all threads of a process have ended. */
static bool process_ended(pid_t pid)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);
	bool ended;

	/* ESRCH: nobody has the number; EINVAL, ENOENT: a thread of another process has. */
	if (fd < 0)
		return errno == ESRCH || errno == EINVAL || errno == ENOENT;
	ended = process__has_ended(fd);
	close(fd);
	return ended;
}

void life__strike_ended(struct life *l)
{
	int fd = bpf_map__fd(l->skel->maps.tgids);
	uint32_t tgid, next, kind;
	bool more = !bpf_map_get_next_key(fd, NULL, &next);

	while (more) {
		tgid = next;
		more = !bpf_map_get_next_key(fd, &tgid, &next);
		/* The side that deletes the entry, the kernel's or this one, counts it. */
		if (!bpf_map_lookup_elem(fd, &tgid, &kind) && kind & WIRE_TGID_FOLLOWED &&
		    process_ended(tgid) && !bpf_map_delete_elem(fd, &tgid))
			__atomic_fetch_sub(&l->skel->data_written->followed_alive, 1,
					   __ATOMIC_SEQ_CST);
	}
}
