// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/link_holder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/links/asleep.h"
#include "attach/links/call_probes.h"
#include "attach/links/closer.h"
#include "attach/links/cpus/near.h"
#include "attach/links/cpus/quiet.h"
#include "attach/links/fork_lock.h"
#include "attach/links/loader.h"
#include "attach/links/refusal.h"
#include "attach/links/skeleton.h"
#include "attach/links/spare.h"
#include "attach/links/trace_event.h"
#include "security/apart.h"
#include "security/fd_message.h"
#include "security/privilege.h"
#include "target/process.h"
#include "util/array.h"
#include "util/io.h"
#include "util/clock.h"
#include "util/log.h"

struct link_holder {
	pid_t pid;
	int socket;
	bool stays;	  /* when we are gone: see links_close() */
	bool loading;	  /* the answer to a LOAD is still to come */
	bool detaching;	  /* the answer to a DETACH is still to come */
	struct near near; /* as it was told last */
};

enum request_kind {
	LINK = 1,
	CLOSE,
	HOLD,
	GO_ON,
	SETTLE,
	DETACH,
	LOAD,
	LOAD_LATE,
	UNLOAD,
	TRACEPOINTS,
	MAKE_MAP,
	FIND_ASLEEP,
	KEEP,
	BE_NEAR
};

/* Requests to the link holder. LINK: offsets and cookies follow, and semaphores if it has some; the
 * program's and the file's descriptors go along. LOAD: struct load_spec follows, and a turn's
 * descriptor may go along. LOAD_LATE: the maps' descriptors go along; KEEP: a file's. BE_NEAR:
 * struct near follows, and there is no answer. Else it is an int: -errno or 0, and to LINK the
 * link's number, to DETACH how many links stay, to FIND_ASLEEP how many waits were found. With that
 * to LOAD_LATE the programs' descriptors come, with that to LOAD those of the maps; with that to
 * MAKE_MAP the map's. Behind those to LOAD and FIND_ASLEEP comes struct refusal, with that to LOAD
 * the programs' descriptors. */
struct request {
	int kind; /* enum request_kind */
	int link; /* CLOSE: its number */
	int attach_type, return_probes;
	pid_t pid;
	uint32_t shared;     /* LINK: struct link_spec's */
	uint32_t cnt;	     /* of probes; MAKE_MAP: of entries */
	uint32_t semaphores; /* whether there are some */
	uint32_t basic;	     /* LOAD_LATE: struct late_kind's */
	uint32_t what;	     /* TRACEPOINTS: enum tracepoints; MAKE_MAP: enum loose_map */
};

enum { FD_PROGRAM, FD_OBJECT, LINK_FDS };

#define MAX_COUNT     (1u << 20) /* of probes in a link: the kernel's limit */
#define LOOK_AGAIN_US 100000
#define LOOK_NS	      10000000
#define STAY_US	      (24 * 3600 * 1000000ull)

struct held {
	int fd;	     /* -1: none */
	pid_t pid;   /* of the process that its probes are in; 0: all, or ours */
	bool shared; /* they are in all, for the sake of the target's forked children */
	bool is_event;
	uint32_t event; /* its number */
	uint32_t probes;
};

/*
 * Links by their numbers. A debugger takes our breakpoints for the code that it puts its own over,
 * and writes them back when it takes these out: then they must still be ours. So links to a
 * process that is being debugged are put off, as are those that are shared with its children.
 */
struct links {
	struct held *held;
	size_t cnt, cap;
	size_t first_free; /* no number below is */
	struct held *put_off;
	size_t put_off_cnt, put_off_cap;
	int *kept; /* descriptors of files, as long as there are links */
	size_t kept_cnt, kept_cap;
	struct closer *closer;
	struct trace_events *events;
	struct near near;
	struct process_names target; /* some of its processes, also while `near` has none */
	pid_t debugged;		     /* one of them that a debugger is at; 0: none */
	uint64_t looked_ns;	     /* when that was looked up */
};

/* A probe is an instruction to be changed in each process that it is in. */
static uint32_t changes(const struct links *l, const struct held *link)
{
	uint64_t cnt = (uint64_t)link->probes * (link->pid || !l->near.all ? 1 : l->near.all);

	return cnt < UINT32_MAX ? cnt : UINT32_MAX;
}

static void held_close(const struct links *l, const struct held *link)
{
	if (link->is_event)
		closer__close_event(l->closer, link->fd, l->events, link->event, changes(l, link));
	else
		closer__close(l->closer, link->fd, changes(l, link));
}

/* Closes what has been put off where the debugger has left. */
static void links_look_again(struct links *l)
{
	pid_t other = 0;
	size_t cnt = 0;

	for (size_t i = 0; i < l->put_off_cnt; i++) {
		struct held *link = &l->put_off[i];

		if (!process__is_debugged(link->pid)) {
			if (link->shared && !other)
				other = process__debugged_like(&l->target);
			link->pid = link->shared ? other : 0;
		}
		if (link->pid)
			l->put_off[cnt++] = *link;
		else
			held_close(l, link);
	}
	l->put_off_cnt = cnt;
}

/* A process of the target that a debugger is at, as it was up to 10 ms ago: links are closed by the
 * hundred, and a look at a process takes 15 us. 0: none. */
static pid_t debugged_of(struct links *l)
{
	uint64_t at_ns = now_ns();

	if (at_ns >= l->looked_ns + LOOK_NS) {
		l->debugged = process__debugged_of(&l->target);
		l->looked_ns = at_ns;
	}
	return l->debugged;
}

/* `debugged`: a process that shared links are put off for; 0: none. */
static int link_close(struct links *l, int number, pid_t debugged)
{
	struct held link;

	if (number < 0 || (size_t)number >= l->cnt || l->held[number].fd < 0)
		return -ENOENT;
	link = l->held[number];
	l->held[number].fd = -1;
	if ((size_t)number < l->first_free)
		l->first_free = number;
	if (link.shared)
		link.pid = debugged;
	if (link.pid && (link.shared || process__is_debugged(link.pid)) &&
	    !ARRAY_RESERVE(&l->put_off, l->put_off_cnt, &l->put_off_cap))
		l->put_off[l->put_off_cnt++] = link;
	else
		held_close(l, &link);
	return 0;
}

/* All of them; they are gone when it returns, those that were being closed as well, but for what is
 * put off. Returns how many these are. */
static int links_close(struct links *l)
{
	pid_t debugged = l->cnt ? process__debugged_like(&l->target) : 0;

	closer__hold(l->closer, false);
	/* The last first: these are of functions that are called, see grouping__link(). */
	for (size_t i = l->cnt; i-- > 0;)
		link_close(l, i, debugged);
	l->cnt = l->first_free = 0;
	links_look_again(l);
	closer__drain(l->closer);
	return l->put_off_cnt;
}

static int hold(const struct links *l, bool held)
{
	closer__hold(l->closer, held);
	return 0;
}

static int settle(const struct links *l)
{
	closer__settle(l->closer);
	return 0;
}

/* A number that is free, or -ENOMEM. */
static int links_number(struct links *l)
{
	while (l->first_free < l->cnt && l->held[l->first_free].fd >= 0)
		l->first_free++;
	if (l->first_free == l->cnt) {
		if (ARRAY_RESERVE(&l->held, l->cnt, &l->cap))
			return -ENOMEM;
		l->held[l->cnt++].fd = -1;
	}
	return l->first_free;
}

/* Sets made->fd; -errno. */
static void make(const struct links *l, const struct link_spec *spec, struct held *made)
{
	bool quiet;
	int own;

	if (made->is_event) {
		made->fd = trace_event__open(l->events, spec, &made->event);
		return;
	}
	quiet = quiet__is_due(&l->near, spec->cnt);
	own = quiet ? fork_lock__prepare(spec) : -1;
	if (own >= 0)
		closer__close(l->closer, own, 0);
	quiet = quiet && quiet__begin();
	if (!quiet)
		near__go(&l->near, spec->cnt);
	made->fd = link__create(spec);
	fork_lock__used();
	if (quiet)
		quiet__end();
	else
		near__leave();
}

/* One link by the request. Returns its number or -errno; false in *alive if the other side has
 * gone. */
static int link_one(int socket, struct links *links, const struct request *req,
		    const struct fds *fds, bool *alive)
{
	size_t cnt = (req->semaphores ? 3 : 2) * (size_t)req->cnt;
	uint64_t *values = malloc(cnt * sizeof(*values));
	const struct link_spec spec = {
		.prog_fd = fds->fd[FD_PROGRAM],
		.attach_type = req->attach_type,
		.return_probes = req->return_probes,
		.object_fd = fds->fd[FD_OBJECT],
		.pid = req->pid,
		.offsets = values,
		.cookies = values + req->cnt,
		.semaphores = req->semaphores ? values + 2 * (size_t)req->cnt : NULL,
		.cnt = req->cnt,
	};
	struct held made = {
		.pid = req->pid == getppid() ? 0 : req->pid,
		.shared = req->shared,
		.is_event = req->attach_type == LINK_TRACE_EVENT,
		.probes = req->cnt,
	};
	int number = -EOWNERDEAD;

	*alive = values && fd_message__receive_all(socket, values, cnt * sizeof(*values));
	if (*alive)
		number = links_number(links);
	if (number >= 0) {
		make(links, &spec, &made);
		if (made.fd < 0)
			number = made.fd;
		else
			links->held[number] = made;
	}
	free(values);
	return number;
}

/* False: the other side has gone. */
static bool be_near(int socket, struct links *links)
{
	struct near near;

	if (!fd_message__receive_all(socket, &near, sizeof(near)) || near.cnt > NEAR_PROCESSES)
		return false;
	links->near = near;
	if (near.pids[0])
		process__names(near.pids, near.cnt ? near.cnt : NEAR_PROCESSES, &links->target);
	if (links->closer)
		closer__be_near(links->closer, &near);
	return true;
}

static int keep_file(struct links *l, struct fds *file)
{
	if (ARRAY_RESERVE(&l->kept, l->kept_cnt, &l->kept_cap))
		return -ENOMEM;
	l->kept[l->kept_cnt++] = file->fd[0];
	file->cnt = 0;
	return 0;
}

/* The state of the link holder's process: links, and the programs that they are of. */
struct service {
	struct links links;
	struct proftrace_bpf *skel; /* what is loaded; NULL: nothing */
	int refused; /* -errno: the closer could not be started, so nothing is ever loaded */
};

/* The programs' descriptors are in *out. Returns 0 or -errno. */
static int load_late(const struct request *req, const struct fds *maps, struct fds *out)
{
	const struct late_kind kind = {.basic = req->basic, .attach_type = req->attach_type};
	int err = late_programs__load(&kind, maps->fd, maps->cnt, out->fd);

	out->cnt = err ? 0 : LATE_PROGRAMS;
	return err;
}

static uint64_t ran_ns(const void *skel)
{
	return skeleton__ran_ns(skel);
}

static void unload(struct service *s)
{
	quiet__ask(NULL, NULL);
	skeleton__free(s->skel);
	s->skel = NULL;
}

/* Loads the programs, in place of others, and answers. `turn`: of a map, or none. False: the other
 * side has gone. */
static bool load(int socket, struct service *s, const struct fds *turn)
{
	struct fds maps = {0}, programs = {0};
	struct load_spec spec;
	struct refusal refusal;
	int answer;

	if (!fd_message__receive_all(socket, &spec, sizeof(spec)))
		return false;
	unload(s);
	answer = s->refused;
	if (!answer)
		answer = loader__load(&spec, turn->cnt ? turn->fd[0] : -1, &s->skel);
	refusal__get(&refusal);
	if (!answer) {
		loader__descriptors(s->skel, &maps, &programs);
		quiet__ask(ran_ns, s->skel);
	}
	return fd_message__send(socket, &answer, sizeof(answer), &maps) &&
	       fd_message__send(socket, &refusal, sizeof(refusal), &programs);
}

/* Answers. False: the other side has gone. */
static bool find_asleep(int socket, const struct service *s)
{
	const struct fds none = {0};
	struct refusal refusal;
	int answer;

	refusal__forget();
	answer = s->skel ? asleep__find(s->skel) : -ENOENT;
	refusal__get(&refusal);
	return fd_message__send(socket, &answer, sizeof(answer), &none) &&
	       fd_message__send(socket, &refusal, sizeof(refusal), &none);
}

/* The descriptors that go with the answer are in *made. */
static int make_map(const struct request *req, const struct fds *fds, struct fds *made)
{
	int fd = loader__make_map(req->what, req->cnt, fds->cnt ? fds->fd[0] : -1);

	if (fd < 0)
		return fd;
	made->fd[made->cnt++] = fd;
	return 0;
}

/* Programs at tracepoints go as well: whoever asked may be long in taking the answer, as somebody
 * reads the result. Returns how many links stay. */
static int detach(struct service *s)
{
	int stay = links_close(&s->links);

	if (s->skel)
		loader__tracepoints(s->skel, TRACEPOINTS_DETACH);
	return stay;
}

/* Does what a request asks for. False: there is no such request, or the other side has gone. */
static bool obey(int socket, struct service *s, const struct request *req, struct fds *fds)
{
	struct fds made = {0};
	bool alive = true;
	int answer;

	if (req->kind == LOAD)
		return load(socket, s, fds);
	if (req->kind == BE_NEAR)
		return be_near(socket, &s->links);
	if (req->kind == FIND_ASLEEP)
		return find_asleep(socket, s);
	if (s->refused && req->kind == LINK)
		return false;
	if (s->refused)
		answer = s->refused;
	else if (req->kind == LINK && fds->cnt == LINK_FDS && req->cnt <= MAX_COUNT)
		answer = link_one(socket, &s->links, req, fds, &alive);
	else if (req->kind == CLOSE)
		answer = link_close(&s->links, req->link, debugged_of(&s->links));
	else if (req->kind == HOLD || req->kind == GO_ON)
		answer = hold(&s->links, req->kind == HOLD);
	else if (req->kind == SETTLE)
		answer = settle(&s->links);
	else if (req->kind == LOAD_LATE)
		answer = load_late(req, fds, &made);
	else if (req->kind == DETACH)
		answer = detach(s);
	else if (req->kind == TRACEPOINTS)
		answer = s->skel ? loader__tracepoints(s->skel, req->what) : -ENOENT;
	else if (req->kind == MAKE_MAP)
		answer = make_map(req, fds, &made);
	else if (req->kind == KEEP && fds->cnt == 1)
		answer = keep_file(&s->links, fds);
	else
		return false;
	alive = alive && fd_message__send(socket, &answer, sizeof(answer), &made);
	fds__close(&made);
	return alive;
}

/* Serves until the other side has gone. */
static void serve(int socket, struct trace_events *events)
{
	struct service s = {.links.events = events};
	struct request req;
	struct fds fds;
	bool alive = true;

	s.refused = closer__new(&s.links.closer);
	while (alive && fd_message__receive(socket, &req, sizeof(req), &fds) == sizeof(req)) {
		if (req.kind == UNLOAD)
			unload(&s);
		else
			alive = obey(socket, &s, &req, &fds);
		fds__close(&fds);
	}
	if (s.refused)
		return;
	unload(&s);
	/* The target's own child may be its debugger, for ever. */
	for (uint64_t i = 0; i < STAY_US / LOOK_AGAIN_US && links_close(&s.links); i++)
		usleep(LOOK_AGAIN_US);
	free(s.links.held);
	free(s.links.put_off);
	free(s.links.kept);
}

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* Debian's and Ubuntu's kernels have levels above the kernel's own 2, on which perf events are
 * CAP_SYS_ADMIN's alone. Debian's default is 3. */
static bool perf_is_admins(void)
{
	return io__read_number(PARANOID) > 2;
}

/* The process itself, with its end of the socket. */
static void keep(int socket, bool uses_events, bool system_calls)
{
	struct trace_events *events;
	pid_t spare;
	int err;

	apart__go(socket, "proftrace-links");
	if (chdir("/"))
		return; /* else it would keep a file system busy */
	privilege__hurry(true);
	err = trace_events__new(&events);
	if (system_calls)
		call_probes__open();
	privilege__drop_for_links(uses_events && perf_is_admins());
	if (err)
		return;
	spare = spare__start(APART_SOCKET);
	serve(APART_SOCKET, events);
	spare__end(spare);
	trace_events__free(events);
	quiet__let_end(getpid());
}

int link_holder__new(bool events, bool system_calls, struct link_holder **out)
{
	struct link_holder *k = calloc(1, sizeof(*k));
	int pair[2] = {-1, -1}, err = 0;

	if (!k || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		err = k ? -errno : -ENOMEM;
	if (!err)
		k->pid = fork();
	if (!err && k->pid < 0)
		err = -errno;
	if (err) {
		log_error("cannot start the process that holds the probes: %s",
			  apart__why_not(err));
		if (pair[0] >= 0) {
			close(pair[0]);
			close(pair[1]);
		}
		free(k);
		return err;
	}
	if (!k->pid) {
		keep(pair[1], events, system_calls);
		_exit(0);
	}
	close(pair[1]);
	k->socket = pair[0];
	*out = k;
	return 0;
}

int link_holder__fd(const struct link_holder *k)
{
	return k->socket;
}

uint64_t link_holder__cpu_ns(const struct link_holder *k)
{
	uint64_t ns;

	return process__cpu_ns(k->pid, &ns) ? 0 : ns;
}

uint64_t link_holder__making_ns(const struct link_holder *k)
{
	return process__first_thread_ns(k->pid);
}

static const struct fds no_fds;

/* Asks for something; data that belongs to it may follow. False: the link holder has gone. */
static bool ask(struct link_holder *k, const struct request *req, const struct fds *fds)
{
	if (k->loading)
		link_holder__end_load(k, NULL);
	link_holder__end_detach(k);
	return fd_message__send(k->socket, req, sizeof(*req), fds);
}

/* Waits for the answer. */
static int answer(const struct link_holder *k, struct fds *fds)
{
	int result;

	return fd_message__receive(k->socket, &result, sizeof(result), fds) == sizeof(result)
		       ? result
		       : -EOWNERDEAD;
}

int link_holder__link(struct link_holder *k, const struct link_spec *spec)
{
	const struct request req = {
		.kind = LINK,
		.attach_type = spec->attach_type,
		.return_probes = spec->return_probes,
		.pid = spec->pid,
		.shared = spec->shared,
		.cnt = spec->cnt,
		.semaphores = spec->semaphores != NULL,
	};
	struct fds fds = {LINK_FDS, {spec->prog_fd, spec->object_fd}};
	size_t len = spec->cnt * sizeof(uint64_t);

	if (!spec->cnt || spec->cnt > MAX_COUNT)
		return spec->cnt ? -E2BIG : -EINVAL;
	if (spec->prog_fd < 0 || spec->object_fd < 0)
		return -EBADF; /* a program that was not loaded */
	if (!ask(k, &req, &fds) || !fd_message__send_all(k->socket, spec->offsets, len) ||
	    !fd_message__send_all(k->socket, spec->cookies, len) ||
	    (spec->semaphores && !fd_message__send_all(k->socket, spec->semaphores, len)))
		return -EOWNERDEAD;
	return answer(k, &fds);
}

void link_holder__be_near(struct link_holder *k, const struct near *near)
{
	const struct request req = {.kind = BE_NEAR};

	if (!memcmp(near, &k->near, sizeof(*near)))
		return;
	k->near = *near;
	if (ask(k, &req, &no_fds))
		fd_message__send_all(k->socket, near, sizeof(*near));
}

int link_holder__keep(struct link_holder *k, int fd)
{
	const struct request req = {.kind = KEEP};
	const struct fds file = {1, {fd}};
	struct fds none;

	return ask(k, &req, &file) ? answer(k, &none) : -EOWNERDEAD;
}

int link_holder__close(struct link_holder *k, int link)
{
	const struct request req = {.kind = CLOSE, .link = link};
	struct fds none;

	return ask(k, &req, &no_fds) ? answer(k, &none) : -EOWNERDEAD;
}

int link_holder__load_late(struct link_holder *k, const struct late_kind *kind,
			   const struct proftrace_bpf *skel, int programs[LATE_PROGRAMS])
{
	const struct request req = {
		.kind = LOAD_LATE, .attach_type = kind->attach_type, .basic = kind->basic};
	struct fds fds = {.cnt = 0};
	int err;

	fds.cnt = late_programs__maps(skel, fds.fd);
	if (!ask(k, &req, &fds))
		return -EOWNERDEAD;
	err = answer(k, &fds);
	if (!err && fds.cnt != LATE_PROGRAMS) {
		fds__close(&fds);
		err = -EMFILE; /* the kernel leaves out what there is no room for */
	}
	if (!err)
		memcpy(programs, fds.fd, LATE_PROGRAMS * sizeof(int));
	return err;
}

int link_holder__begin_load(struct link_holder *k, uint32_t backend,
			    const struct proftrace_bpf *skel, int turn_fd)
{
	const struct request req = {.kind = LOAD};
	const struct fds turn = {turn_fd > 0, {turn_fd}};
	struct load_spec spec;

	load_spec__of(skel, backend, &spec);
	if (!ask(k, &req, &turn) || !fd_message__send_all(k->socket, &spec, sizeof(spec)))
		return -EOWNERDEAD;
	k->loading = true;
	return 0;
}

int link_holder__end_load(struct link_holder *k, struct proftrace_bpf *skel)
{
	struct fds maps = {0}, programs = {0};
	struct refusal refusal;
	int err;

	if (!k->loading)
		return -ECANCELED;
	k->loading = false;
	err = answer(k, &maps);
	if (fd_message__receive(k->socket, &refusal, sizeof(refusal), &programs) == sizeof(refusal))
		refusal__put(&refusal);
	else
		err = -EOWNERDEAD;
	if (!err && skel)
		err = skeleton__take(skel, &maps, &programs);
	fds__close(&maps);
	fds__close(&programs);
	return err;
}

void link_holder__unload(struct link_holder *k)
{
	const struct request req = {.kind = UNLOAD};

	ask(k, &req, &no_fds);
}

int link_holder__tracepoints(struct link_holder *k, enum tracepoints what)
{
	const struct request req = {.kind = TRACEPOINTS, .what = what};
	struct fds none;

	return ask(k, &req, &no_fds) ? answer(k, &none) : -EOWNERDEAD;
}

int link_holder__make_map(struct link_holder *k, enum loose_map kind, uint32_t cnt, int inner)
{
	const struct request req = {.kind = MAKE_MAP, .what = kind, .cnt = cnt};
	const struct fds given = {inner >= 0, {inner}};
	struct fds made;
	int err = ask(k, &req, &given) ? answer(k, &made) : -EOWNERDEAD;

	if (err)
		return err;
	return made.cnt == 1 ? made.fd[0] : -EMFILE;
}

int link_holder__find_asleep(struct link_holder *k)
{
	const struct request req = {.kind = FIND_ASLEEP};
	struct refusal refusal;
	struct fds none;
	int found = ask(k, &req, &no_fds) ? answer(k, &none) : -EOWNERDEAD;

	if (fd_message__receive(k->socket, &refusal, sizeof(refusal), &none) != sizeof(refusal))
		return -EOWNERDEAD;
	refusal__put(&refusal);
	return found;
}

void link_holder__hold(struct link_holder *k, bool hold)
{
	const struct request req = {.kind = hold ? HOLD : GO_ON};
	struct fds none;

	if (ask(k, &req, &no_fds))
		answer(k, &none);
}

void link_holder__settle(struct link_holder *k)
{
	const struct request req = {.kind = SETTLE};
	struct fds none;

	if (ask(k, &req, &no_fds))
		answer(k, &none);
}

void link_holder__begin_detach(struct link_holder *k)
{
	const struct request req = {.kind = DETACH};

	if (!k->stays)
		k->detaching = ask(k, &req, &no_fds);
}

bool link_holder__is_detached(const struct link_holder *k, int timeout_ms)
{
	struct pollfd answer = {.fd = k->socket, .events = POLLIN};

	return !k->detaching || poll(&answer, 1, timeout_ms);
}

void link_holder__end_detach(struct link_holder *k)
{
	struct fds none;

	if (!k->detaching)
		return;
	k->detaching = false;
	if (answer(k, &none) <= 0)
		return;
	k->stays = true;
	log_warn(
		"a debugger is at the target: probes stay in until it has left, for a day at most, "
		"or it would leave breakpoints behind (process %d sees to that)",
		k->pid);
}

void link_holder__free(struct link_holder *k)
{
	if (!k)
		return;
	close(k->socket);
	while (!k->stays && waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(k);
}
