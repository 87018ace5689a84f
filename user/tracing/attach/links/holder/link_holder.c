// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/holder/link_holder.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/links/cpus/near.h"
#include "attach/links/holder/link_process.h"
#include "attach/links/holder/request.h"
#include "attach/links/loader.h"
#include "attach/links/refusal.h"
#include "attach/links/skeleton.h"
#include "security/apart.h"
#include "security/fd_message.h"
#include "target/process.h"
#include "util/log.h"

struct link_holder {
	pid_t pid;
	int socket;
	bool stays;	  /* when we are gone: see links_close() */
	bool loading;	  /* the answer to a LOAD is still to come */
	bool detaching;	  /* the answer to a DETACH is still to come */
	struct near near; /* as it was told last */
};

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
		link_process__be(pair[1], events, system_calls);
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
