/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The links that the link holder has, by their numbers. A debugger takes our breakpoints for the
 * code that it puts its own over, and writes them back when it takes these out: then they must
 * still be ours. So links to a process that is being debugged are put off when they are to be
 * closed, as are those that are shared with the target's children.
 */
#ifndef PROFTRACE_ATTACH_LINKS_HOLDER_HELD_LINKS_H
#define PROFTRACE_ATTACH_LINKS_HOLDER_HELD_LINKS_H

#include <stdbool.h>

struct held_links;
struct link_spec;
struct near;
struct trace_events;

/* Returns 0, -ENOMEM, or -EAGAIN: no thread can be started that closes links. `events` is borrowed.
 */
int held_links__new(struct trace_events *events, struct held_links **out);
/* All links are closed by now: held_links__close_all() has returned 0. Accepts NULL. */
void held_links__free(struct held_links *l);

/* Links are made and closed near these processes from now on. */
void held_links__be_near(struct held_links *l, const struct near *near);

/* Makes a link, by link__create() or as a trace event. Returns its number or -errno. */
int held_links__make(struct held_links *l, const struct link_spec *spec);

/* Closes one link in the background. Its number may be used again at once. Returns 0, or -ENOENT:
 * there is none of that number. */
int held_links__close(struct held_links *l, int number);

/* Closes all links; they are gone when it returns, those that were being closed as well, but for
 * what is put off. Returns how many these are; a later call looks at them again. */
int held_links__close_all(struct held_links *l);

/* Until it is called with false: links that are to be closed wait. */
void held_links__hold(const struct held_links *l, bool hold);

/* Waits until the probes of all links that were closed are out. */
void held_links__settle(const struct held_links *l);

/* Takes a file's descriptor over, and keeps it as long as there are links. Returns 0 or -ENOMEM:
 * then it is still the caller's. */
int held_links__keep_file(struct held_links *l, int fd);

#endif
