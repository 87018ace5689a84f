// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/holder/link_process.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach/links/asleep.h"
#include "attach/links/call_probes.h"
#include "attach/links/cpus/near.h"
#include "attach/links/cpus/quiet.h"
#include "attach/links/late_programs.h"
#include "attach/links/link.h"
#include "attach/links/loader.h"
#include "attach/links/loads.h"
#include "attach/links/holder/held_links.h"
#include "attach/links/holder/request.h"
#include "attach/links/refusal.h"
#include "attach/links/skeleton.h"
#include "attach/links/spare.h"
#include "attach/links/trace_event.h"
#include "security/apart.h"
#include "security/fd_message.h"
#include "security/privilege.h"
#include "util/io.h"

#define LOOK_AGAIN_US 100000
#define STAY_US	      (24 * 3600 * 1000000ull)

/* The state of the link holder's process: links, and the programs that they are of. */
struct service {
	struct held_links *links;
	struct proftrace_bpf *skel; /* what is loaded; NULL: nothing */
	int refused; /* -errno: the closer could not be started, so nothing is ever loaded */
};

/* One link by the request. Returns its number or -errno; false in *alive if the other side has
 * gone. */
static int link_one(int socket, struct held_links *links, const struct request *req,
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
		.shared = req->shared,
		.offsets = values,
		.cookies = values + req->cnt,
		.semaphores = req->semaphores ? values + 2 * (size_t)req->cnt : NULL,
		.cnt = req->cnt,
	};
	int number = -EOWNERDEAD;

	*alive = values && fd_message__receive_all(socket, values, cnt * sizeof(*values));
	if (*alive)
		number = held_links__make(links, &spec);
	free(values);
	return number;
}

/* False: the other side has gone. */
static bool be_near(int socket, const struct service *s)
{
	struct near near;

	if (!fd_message__receive_all(socket, &near, sizeof(near)) || near.cnt > NEAR_PROCESSES)
		return false;
	if (!s->refused)
		held_links__be_near(s->links, &near);
	return true;
}

static int keep_file(struct held_links *links, struct fds *file)
{
	int err = held_links__keep_file(links, file->fd[0]);

	if (!err)
		file->cnt = 0;
	return err;
}

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
	int stay = held_links__close_all(s->links);

	if (s->skel)
		loader__tracepoints(s->skel, TRACEPOINTS_DETACH);
	return stay;
}

/* Does what a request asks for. False: there is no such request, or the other side has gone. */
static bool obey(int socket, struct service *s, const struct request *req, struct fds *fds)
{
	struct fds made = {0};
	bool alive = true;
	int answer = 0;

	if (req->kind == LOAD)
		return load(socket, s, fds);
	if (req->kind == BE_NEAR)
		return be_near(socket, s);
	if (req->kind == FIND_ASLEEP)
		return find_asleep(socket, s);
	if (s->refused && req->kind == LINK)
		return false;
	if (s->refused)
		answer = s->refused;
	else if (req->kind == LINK && fds->cnt == LINK_FDS && req->cnt <= MAX_COUNT)
		answer = link_one(socket, s->links, req, fds, &alive);
	else if (req->kind == CLOSE)
		answer = held_links__close(s->links, req->link);
	else if (req->kind == HOLD || req->kind == GO_ON)
		held_links__hold(s->links, req->kind == HOLD);
	else if (req->kind == SETTLE)
		held_links__settle(s->links);
	else if (req->kind == LOAD_LATE)
		answer = load_late(req, fds, &made);
	else if (req->kind == DETACH)
		answer = detach(s);
	else if (req->kind == TRACEPOINTS)
		answer = s->skel ? loader__tracepoints(s->skel, req->what) : -ENOENT;
	else if (req->kind == MAKE_MAP)
		answer = make_map(req, fds, &made);
	else if (req->kind == KEEP && fds->cnt == 1)
		answer = keep_file(s->links, fds);
	else
		return false;
	alive = alive && fd_message__send(socket, &answer, sizeof(answer), &made);
	fds__close(&made);
	return alive;
}

/* Serves until the other side has gone. */
static void serve(int socket, struct trace_events *events)
{
	struct service s = {0};
	struct request req;
	struct fds fds;
	bool alive = true;

	s.refused = held_links__new(events, &s.links);
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
	for (uint64_t i = 0; i < STAY_US / LOOK_AGAIN_US && held_links__close_all(s.links); i++)
		usleep(LOOK_AGAIN_US);
	held_links__free(s.links);
}

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* Debian's and Ubuntu's kernels have levels above the kernel's own 2, on which perf events are
 * CAP_SYS_ADMIN's alone. Debian's default is 3. */
static bool perf_is_admins(void)
{
	return io__read_number(PARANOID) > 2;
}

void link_process__be(int socket, bool uses_events, bool system_calls)
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
