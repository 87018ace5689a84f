// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The whole machine, from samples: -a, and `top` without a target. There, a process that is chosen
 * is traced by a run of its own. Both are children of a process that reads nothing of strangers',
 * as a run needs privileges that who has read strangers' files has given up.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls/profile.h"
#include "cli/options.h"
#include "live/live.h"
#include "live/terminal.h"
#include "machine/machine.h"
#include "recording/recorder.h"
#include "report/output.h"
#include "report/show.h"
#include "run/keys.h"
#include "run/watch.h"
#include "security/namespaces.h"
#include "security/opener.h"
#include "security/privilege.h"
#include "target/target.h"
#include "util/log.h"
#include "util/signals.h"
#include "views/delta.h"

/* How the child that shows a process ends if somebody wants to see the others again. */
#define STATUS_BACK 77

/* A look at the whole machine. */
struct look {
	const struct options *o;
	struct machine *machine;
	struct watch *watch;
	struct live *live; /* NULL: it is no live view */
	struct output out;
	struct recorder *recorder; /* in place of `out` */
	struct profile *before;	   /* what the intervals so far have shown */
	pid_t opened;		   /* the process that was chosen; 0: none */
	bool quit;
};

/* Writes what was seen so far, or with -i what is new of it. */
static int emit(struct look *l)
{
	struct profile *now = NULL, *news = NULL;
	int err = machine__snapshot(l->machine, &now);

	if (err)
		return err;
	if (l->live)
		return live__take(l->live, now);
	if (l->recorder)
		err = recorder__write(l->recorder, now);
	else if (l->o->interval_ns)
		err = profile__interval(now, l->before, &news);
	if (!err && !l->recorder)
		err = show__write(&l->out, l->o, news ? &news : &now);
	profile__free(news);
	if (l->o->interval_ns && !err) {
		profile__free(l->before);
		l->before = now;
	} else {
		profile__free(now);
	}
	return err;
}

static int press_keys(struct look *l)
{
	enum top_wish wish;
	int err = live__keys(l->live, &wish);

	while (!err && wish != TOP_NOTHING) {
		l->quit |= wish == TOP_QUIT;
		if (wish == TOP_OPEN)
			l->opened = live__opened(l->live);
		if (l->quit || l->opened)
			return 0;
		if (wish == TOP_SWITCH || wish == TOP_SAVE)
			log_info("that is for one process: Enter goes into it");
		err = live__keys(l->live, &wish);
	}
	return err;
}

static int look_on(struct look *l)
{
	int err = 0;

	while (!err && !l->quit && !l->opened) {
		switch (watch__next(l->watch)) {
		case WATCH_TICK:
			err = machine__poll(l->machine);
			break;
		case WATCH_INTERVAL:
		case WATCH_SNAPSHOT:
			err = machine__poll(l->machine);
			if (!err)
				err = emit(l);
			break;
		case WATCH_KEYS:
			err = press_keys(l);
			break;
		case WATCH_CLOSED:
			return -EPIPE;
		case WATCH_SIGNAL:
		case WATCH_DURATION:
			l->quit = true;
			break;
		default:
			break;
		}
	}
	return err;
}

static int open_output(struct look *l)
{
	const struct options *o = l->o;
	int err;

	if (o->verb == VERB_TOP)
		return terminal__check();
	if (o->verb == VERB_RECORD) {
		err = recorder__open(o, o->output, &l->recorder);
		return err ? err : recorder__begin(l->recorder, 0);
	}
	output__page(&l->out, o);
	err = output__open(&l->out, o);
	return err ? err : output__begin(&l->out);
}

static int start(struct look *l)
{
	const struct options *o = l->o;
	const struct target nobody = {0};
	const struct watch_times times = {.duration_ns = o->duration_ns,
					  .interval_ns = o->interval_ns};
	struct watch_fds fds = {.out = l->out.file ? fileno(l->out.file) : -1,
				.life = -1,
				.link_holder = -1,
				.screen = o->verb == VERB_TOP};
	int err;

	err = opener__start();
	privilege__drop_for_run();
	fds.keys = keys__start();
	if (!err && fds.screen)
		err = live__machine("all processes", &l->live);
	if (!err)
		err = watch__start(l->watch, &nobody, &fds, &times);
	watch__end_in_order();
	return err;
}

static int finish(struct look *l)
{
	int err;

	machine__stop(l->machine);
	err = machine__poll(l->machine);
	if (!err && !l->live)
		err = emit(l);
	if (!err && l->recorder)
		err = recorder__end(l->recorder, "its time was up, or it was interrupted");
	return err;
}

static void look_free(struct look *l)
{
	opener__stop();
	live__free(l->live);
	keys__stop();
	recorder__free(l->recorder);
	profile__free(l->before);
	machine__free(l->machine);
	watch__free(l->watch);
}

/* Returns the exit status; *opened = the process that was chosen. */
static int look_at_machine(const struct options *o, pid_t *opened)
{
	struct look l = {.o = o};
	int err, close_err;

	signals__ignore();
	err = namespaces__check();
	if (!err)
		err = watch__new(false, &l.watch);
	if (!err)
		err = open_output(&l);
	if (!err)
		err = machine__new(o->sample_rate ? o->sample_rate : SAMPLE_RATE_DEFAULT,
				   &l.machine);
	if (!err)
		err = start(&l);
	if (!err && o->verb != VERB_TOP)
		log_info("looking at all processes, %u times a second on each CPU",
			 o->sample_rate ? o->sample_rate : SAMPLE_RATE_DEFAULT);
	if (!err)
		err = look_on(&l);
	if (!err)
		err = finish(&l);
	live__stop(l.live);
	close_err = output__close(&l.out);
	err = err ? err : close_err;
	log_unexplained(err);
	*opened = l.opened;
	look_free(&l);
	return err && err != -EPIPE ? 1 : 0;
}

/* Waits for a child, whatever is typed meanwhile; its exit status. */
static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Shows the machine in a child. Returns its exit status; *opened = the process that was chosen. */
static int show_machine(const struct options *o, pid_t *opened)
{
	int status, ends[2];
	pid_t child;

	*opened = 0;
	if (pipe(ends))
		return 1;
	child = fork();
	if (!child) {
		pid_t chosen = 0;

		close(ends[0]);
		status = look_at_machine(o, &chosen);
		if (write(ends[1], &chosen, sizeof(chosen)) != sizeof(chosen))
			status = 1;
		_exit(status);
	}
	close(ends[1]);
	if (child > 0 && read(ends[0], opened, sizeof(*opened)) != sizeof(*opened))
		*opened = 0;
	close(ends[0]);
	return child > 0 ? wait_for(child) : 1;
}

/* Traces a process in a child; its exit status, STATUS_BACK if the others are to be shown. */
static int show_process(const struct options *o, pid_t pid)
{
	bool left = false;
	struct options own = *o;
	pid_t child = fork();
	int status;

	if (child)
		return child > 0 ? wait_for(child) : 1;
	own.all = false;
	own.chosen = true;
	own.pids = &pid;
	own.pids_cnt = 1;
	own.left = &left;
	status = cmd_trace(&own);
	/* The error message is on the screen that is being left: show it for a moment. */
	if (status)
		sleep(2);
	_exit(left || status ? STATUS_BACK : status);
}

int cmd_machine(const struct options *o)
{
	pid_t opened;
	int status;

	if (o->verb != VERB_TOP)
		return look_at_machine(o, &opened);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	do {
		status = show_machine(o, &opened);
		if (!status && opened)
			status = show_process(o, opened);
	} while (status == STATUS_BACK);
	return status;
}
