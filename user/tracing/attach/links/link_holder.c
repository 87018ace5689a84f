// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/link_holder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/links/closer.h"
#include "attach/links/spare.h"
#include "attach/links/trace_event.h"
#include "security/privilege.h"
#include "target/process.h"
#include "util/array.h"
#include "util/log.h"

struct link_holder {
	pid_t pid;
	int socket;
	bool stays; /* when we are gone: see links_close() */
};

enum request_kind { LINK = 1, CLOSE, HOLD, GO_ON, SETTLE, DETACH, LOAD, KEEP };

/* Requests to the link holder. LINK: offsets and cookies follow, and semaphores if it has some; the
 * program's and the file's descriptors go along. LOAD: those of the maps do; KEEP: a file's. The
 * answer is an int:
 * -errno or 0, and to LINK the link's number, to DETACH how many links stay. With that to LOAD the
 * programs' descriptors come. */
struct request {
	int kind; /* enum request_kind */
	int link; /* CLOSE: its number */
	int attach_type, return_probes;
	pid_t pid;
	uint32_t cnt;
	uint32_t semaphores; /* whether there are some */
	uint32_t basic;	     /* LOAD: struct late_kind's */
};

enum { FD_PROGRAM, FD_OBJECT, LINK_FDS };

#define MAX_FDS LATE_MAPS

/* Descriptors that go along with a message. */
struct fds {
	size_t cnt;
	int fd[MAX_FDS];
};

#define MAX_COUNT     (1u << 20) /* of probes in a link: the kernel's limit */
#define LOOK_AGAIN_US 100000
#define STAY_US	      (24 * 3600 * 1000000ull)

/* Sends or receives all of it. False: the other side has gone. */
static bool move_all(int fd, void *data, size_t len, bool out)
{
	char *at = data;

	while (len) {
		ssize_t n = out ? send(fd, at, len, MSG_NOSIGNAL) : recv(fd, at, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= n;
	}
	return true;
}

static bool send_all(int fd, const void *data, size_t len)
{
	return move_all(fd, (void *)data, len, true);
}

static bool receive_all(int fd, void *data, size_t len)
{
	return move_all(fd, data, len, false);
}

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

/* A message of `len` bytes. False: the other side has gone. */
static bool send_with_fds(int fd, const void *data, size_t len, const struct fds *fds)
{
	union control control = {0};
	struct iovec iov = {(void *)data, len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	size_t size = fds->cnt * sizeof(int);
	ssize_t n;

	if (size) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(size);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(&control.header), fds->fd, size);
	}
	do
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len;
}

static bool receive_with_fds(int fd, void *data, size_t len, struct fds *fds)
{
	union control control = {0};
	struct iovec iov = {data, len};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	ssize_t n;

	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	fds->cnt = 0;
	if (n > 0 && control.header.cmsg_type == SCM_RIGHTS) {
		fds->cnt = (control.header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds->fd, CMSG_DATA(&control.header), fds->cnt * sizeof(int));
	}
	return n == (ssize_t)len;
}

static void fds_close(const struct fds *fds)
{
	for (size_t i = 0; i < fds->cnt; i++)
		close(fds->fd[i]);
}

struct held {
	int fd;	   /* -1: none */
	pid_t pid; /* of the process that its probes are in; 0: all, or ours */
	bool is_event;
	uint32_t event; /* its number */
	uint32_t probes;
};

/*
 * Links by their numbers. A debugger takes our breakpoints for the code that it puts its own over,
 * and writes them back when it takes these out: then they must still be ours. So links to a
 * process that is being debugged are put off.
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
};

static void held_close(const struct links *l, const struct held *link)
{
	if (link->is_event)
		closer__close_event(l->closer, link->fd, l->events, link->event, link->probes);
	else
		closer__close(l->closer, link->fd, link->probes);
}

/* Closes what has been put off where the debugger has left. */
static void links_look_again(struct links *l)
{
	size_t cnt = 0;

	for (size_t i = 0; i < l->put_off_cnt; i++) {
		if (process__is_debugged(l->put_off[i].pid))
			l->put_off[cnt++] = l->put_off[i];
		else
			held_close(l, &l->put_off[i]);
	}
	l->put_off_cnt = cnt;
}

static int link_close(struct links *l, int number)
{
	struct held link;

	if (number < 0 || (size_t)number >= l->cnt || l->held[number].fd < 0)
		return -ENOENT;
	link = l->held[number];
	l->held[number].fd = -1;
	if ((size_t)number < l->first_free)
		l->first_free = number;
	if (link.pid && process__is_debugged(link.pid) &&
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
	closer__hold(l->closer, false);
	for (size_t i = 0; i < l->cnt; i++)
		link_close(l, i);
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
		.is_event = req->attach_type == LINK_TRACE_EVENT,
		.probes = req->cnt,
	};
	int number = -EOWNERDEAD;

	*alive = values && receive_all(socket, values, cnt * sizeof(*values));
	if (*alive)
		number = links_number(links);
	if (number >= 0) {
		made.fd = made.is_event ? trace_event__open(links->events, &spec, &made.event)
					: link__create(&spec);
		if (made.fd < 0)
			number = made.fd;
		else
			links->held[number] = made;
	}
	free(values);
	return number;
}

static int keep_file(struct links *l, struct fds *file)
{
	if (ARRAY_RESERVE(&l->kept, l->kept_cnt, &l->kept_cap))
		return -ENOMEM;
	l->kept[l->kept_cnt++] = file->fd[0];
	file->cnt = 0;
	return 0;
}

/* The programs' descriptors are in *out. Returns 0 or -errno. */
static int load(const struct request *req, const struct fds *maps, struct fds *out)
{
	const struct late_kind kind = {.basic = req->basic, .attach_type = req->attach_type};
	int err = late_programs__load(&kind, maps->fd, maps->cnt, out->fd);

	out->cnt = err ? 0 : LATE_PROGRAMS;
	return err;
}

/* Serves until the other side has gone. */
static void serve(int socket, struct trace_events *events)
{
	struct links links = {.events = events};
	struct request req;
	struct fds fds, made;
	bool alive = !closer__new(&links.closer);
	int answer;

	if (!alive)
		return;
	while (alive && receive_with_fds(socket, &req, sizeof(req), &fds)) {
		made.cnt = 0;
		if (req.kind == LINK && fds.cnt == LINK_FDS && req.cnt <= MAX_COUNT)
			answer = link_one(socket, &links, &req, &fds, &alive);
		else if (req.kind == CLOSE)
			answer = link_close(&links, req.link);
		else if (req.kind == HOLD || req.kind == GO_ON)
			answer = hold(&links, req.kind == HOLD);
		else if (req.kind == SETTLE)
			answer = settle(&links);
		else if (req.kind == LOAD)
			answer = load(&req, &fds, &made);
		else if (req.kind == KEEP && fds.cnt == 1)
			answer = keep_file(&links, &fds);
		else if (req.kind == DETACH)
			answer = links_close(&links);
		else
			break;
		fds_close(&fds);
		alive = alive && send_with_fds(socket, &answer, sizeof(answer), &made);
		fds_close(&made);
	}
	/* The target's own child may be its debugger, for ever. */
	for (uint64_t i = 0; i < STAY_US / LOOK_AGAIN_US && links_close(&links); i++)
		usleep(LOOK_AGAIN_US);
	free(links.held);
	free(links.put_off);
	free(links.kept);
}

/* Leaves everything of the profiler's but its socket: its terminal, its files, its powers. */
static void go_apart(int socket)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};
	int null = open("/dev/null", O_RDWR);
	struct rlimit files;

	setsid();
	privilege__hurry(true);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "proftrace-links");
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (socket != 3) {
		dup2(socket, 3);
		fcntl(3, F_SETFD, FD_CLOEXEC);
	}
	close_range(4, ~0u, 0);
	if (chdir("/"))
		return; /* keeps a file system busy, no more */
}

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* Debian's and Ubuntu's kernels have levels above the kernel's own 2, on which perf events are
 * CAP_SYS_ADMIN's alone. Debian's default is 3. */
static bool perf_is_admins(void)
{
	char level[16] = "";
	int fd = open(PARANOID, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, level, sizeof(level) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && atoi(level) > 2;
}

/* The process itself, with its end of the socket. */
static void keep(int socket, bool uses_events)
{
	struct trace_events *events;
	pid_t spare;
	int err;

	go_apart(socket);
	err = trace_events__new(&events);
	privilege__drop_for_links(uses_events && perf_is_admins());
	if (err)
		return;
	spare = spare__start(3);
	serve(3, events);
	spare__end(spare);
	trace_events__free(events);
}

int link_holder__new(bool events, struct link_holder **out)
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
		log_error("cannot start the process that holds the probes: %s", strerror(-err));
		if (pair[0] >= 0) {
			close(pair[0]);
			close(pair[1]);
		}
		free(k);
		return err;
	}
	if (!k->pid) {
		keep(pair[1], events);
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

static const struct fds no_fds;

/* Asks for something; data that belongs to it may follow. False: the link holder has gone. */
static bool ask(const struct link_holder *k, const struct request *req, const struct fds *fds)
{
	return send_with_fds(k->socket, req, sizeof(*req), fds);
}

/* Waits for the answer. */
static int answer(const struct link_holder *k, struct fds *fds)
{
	int result;

	return receive_with_fds(k->socket, &result, sizeof(result), fds) ? result : -EOWNERDEAD;
}

int link_holder__link(struct link_holder *k, const struct link_spec *spec)
{
	const struct request req = {
		.kind = LINK,
		.attach_type = spec->attach_type,
		.return_probes = spec->return_probes,
		.pid = spec->pid,
		.cnt = spec->cnt,
		.semaphores = spec->semaphores != NULL,
	};
	struct fds fds = {LINK_FDS, {spec->prog_fd, spec->object_fd}};
	size_t len = spec->cnt * sizeof(uint64_t);

	if (!spec->cnt || spec->cnt > MAX_COUNT)
		return spec->cnt ? -E2BIG : -EINVAL;
	if (!ask(k, &req, &fds) || !send_all(k->socket, spec->offsets, len) ||
	    !send_all(k->socket, spec->cookies, len) ||
	    (spec->semaphores && !send_all(k->socket, spec->semaphores, len)))
		return -EOWNERDEAD;
	return answer(k, &fds);
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

int link_holder__load(struct link_holder *k, const struct late_kind *kind,
		      const struct proftrace_bpf *skel, int programs[LATE_PROGRAMS])
{
	const struct request req = {
		.kind = LOAD, .attach_type = kind->attach_type, .basic = kind->basic};
	struct fds fds = {.cnt = 0};
	int err;

	fds.cnt = late_programs__maps(skel, fds.fd);
	if (!ask(k, &req, &fds))
		return -EOWNERDEAD;
	err = answer(k, &fds);
	if (!err && fds.cnt != LATE_PROGRAMS) {
		fds_close(&fds);
		err = -EMFILE; /* the kernel leaves out what there is no room for */
	}
	if (!err)
		memcpy(programs, fds.fd, LATE_PROGRAMS * sizeof(int));
	return err;
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

void link_holder__detach(struct link_holder *k)
{
	const struct request req = {.kind = DETACH};
	struct fds none;

	if (k->stays || !ask(k, &req, &no_fds) || answer(k, &none) <= 0)
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
