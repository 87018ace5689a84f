/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link holder of links: a process of ours, apart, that creates, holds and closes all links on
 * the targets' code. A task that is killed in the midst of putting probes in or taking them out
 * leaves breakpoints behind (the kernel's uprobe code gives up when a fatal signal is pending: seen
 * on 6.18). The profiler may be killed at any moment; the link holder, in a session of its own,
 * then sees the socket close and takes all probes out in peace. It also loads the programs and
 * makes maps, as it alone has the privileges for that: nothing that strangers have made is parsed
 * in it.
 */
#ifndef PROFTRACE_ATTACH_LINKS_HOLDER_LINK_HOLDER_H
#define PROFTRACE_ATTACH_LINKS_HOLDER_LINK_HOLDER_H

#include <stdbool.h>

#include "attach/links/late_programs.h"
#include "attach/links/link.h"
#include "attach/links/loads.h"

struct link_holder;
struct near;
struct proftrace_bpf;

/* Starts it, before anything is opened that it should not hold on to and while we have the
 * privileges that it takes along. `events`: it may have to open trace events, which takes more of
 * them on some systems; `system_calls`: they are traced. Returns 0 or -errno with one line logged.
 */
int link_holder__new(bool events, bool system_calls, struct link_holder **out);
/* Takes all probes out and waits for its end, but as link_holder__begin_detach(). Accepts NULL. */
void link_holder__free(struct link_holder *k);

/* A descriptor that becomes readable if the link holder was killed; all probes are out then. */
int link_holder__fd(const struct link_holder *k);

/* CPU time that the link holder has had, in ns; 0: not known. */
uint64_t link_holder__cpu_ns(const struct link_holder *k);
/* CPU time, in ns, of the thread that makes links; others close them, in the background. 0: not
 * known. */
uint64_t link_holder__making_ns(const struct link_holder *k);

/* link__create() by the link holder, which holds the link. Returns the link's number or -errno;
 * silent. -EOWNERDEAD: it has gone. */
int link_holder__link(struct link_holder *k, const struct link_spec *spec);

/* Probes are put in and taken out near these processes from now on. */
void link_holder__be_near(struct link_holder *k, const struct near *near);

/* Keeps a copy of a file's descriptor, and with it the locks on the file, until the link holder
 * ends, which is when no link is left. Returns 0 or -errno; silent. */
int link_holder__keep(struct link_holder *k, int fd);

/*
 * loader__load() by the link holder, in place of what it has loaded before, with what has been set
 * in `skel`. `backend`: its number; `turn_fd`: of tracer__make_turn(), or 0. It is begun by the one
 * and goes on meanwhile; the other waits for it, and gives `skel` the descriptors (NULL: nobody
 * wants them any more). Whatever else is asked of the link holder in between calls it off. Each
 * returns 0 or -errno, of which refusal.h knows the reason; -ECANCELED: none is under way.
 */
int link_holder__begin_load(struct link_holder *k, uint32_t backend,
			    const struct proftrace_bpf *skel, int turn_fd);
int link_holder__end_load(struct link_holder *k, struct proftrace_bpf *skel);

/* Has it let go what it has loaded. */
void link_holder__unload(struct link_holder *k);

/* late_programs__load() by the link holder, with the maps of the programs that are loaded. Returns
 * 0 or -errno; silent. */
int link_holder__load_late(struct link_holder *k, const struct late_kind *kind,
			   const struct proftrace_bpf *skel, int programs[LATE_PROGRAMS]);

/* loader__tracepoints() and loader__make_map() by the link holder. -EOWNERDEAD: it has gone. */
int link_holder__tracepoints(struct link_holder *k, enum tracepoints what);
int link_holder__make_map(struct link_holder *k, enum loose_map kind, uint32_t cnt, int inner);

/* asleep__find() by the link holder; of errors refusal.h knows the reason. */
int link_holder__find_asleep(struct link_holder *k);

/* Closes one link in the background, which takes 30 to 150 ms. Its number may be used again at
 * once. Returns 0 or -errno. */
int link_holder__close(struct link_holder *k, int link);

/* Until it is called with false: links that are to be closed wait, as taking out probes and putting
 * some in hinder each other. */
void link_holder__hold(struct link_holder *k, bool hold);

/* Waits until the probes of all links that were closed are out. */
void link_holder__settle(struct link_holder *k);

/* Closes all links, then takes programs at tracepoints out; all are gone when
 * link_holder__end_detach() returns. But links to a process
 * that a debugger is at stay until it has left, and the link holder with them: then a line is
 * logged. Whatever the link holder is asked for meanwhile waits for that end. */
void link_holder__begin_detach(struct link_holder *k);
void link_holder__end_detach(struct link_holder *k);
/* Waits for that end, so many milliseconds at most. Returns whether it has come. */
bool link_holder__is_detached(const struct link_holder *k, int timeout_ms);

#endif
