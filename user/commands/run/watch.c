// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "run/keys.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/io.h"
#include "util/log.h"

#define TICK_NS 100000000ull
#define RESIZED 'w' /* the terminal has another size */

/* The fixed places in the poll set; the targets' pidfds follow. */
enum {
	AT_SIGNAL,
	AT_WISH,
	AT_KEYS,
	AT_LIFE,
	AT_DURATION,
	AT_INTERVAL,
	AT_SKIP,
	AT_TICK,
	AT_LOOK,
	AT_OUTPUT,
	AT_KEEPER,
	AT_TARGETS
};

struct watch {
	struct pollfd *fds;
	size_t fds_cnt;
	size_t alive; /* targets */
	int wishes;   /* the writing end of AT_WISH */
	bool screen;  /* keys are somebody else's to read */
};

/* Written to by the handler; -1: none. */
static volatile sig_atomic_t stop_fd = -1;
static volatile sig_atomic_t wish_fd = -1;

/* There is something to end in order. */
static volatile sig_atomic_t in_order;

/* Whoever has begun this run sees to it that it ends. */
static volatile sig_atomic_t supervised;

/* When the first signal asked for the end; 0: none has. */
static uint64_t end_asked_ns;

/* SIGHUP, as the terminal is gone, ends the run like SIGTERM: what was measured is not lost. Not
 * under nohup(1), which ignores it. */
static bool hangup_ends;

static void catch_no_more(void)
{
	void (*then)(int) = supervised && in_order ? SIG_IGN : SIG_DFL;

	signal(SIGINT, then);
	signal(SIGTERM, then);
	/* When a terminal is gone, its shell may send SIGHUP, and the kernel another one. */
	if (hangup_ends)
		signal(SIGHUP, in_order ? SIG_IGN : then);
}

/* One request may come as two signals: timeout(1), for one, sends them to its child and to their
 * process group. What comes so soon after the first signal belongs to it. */
#define SAME_NS 100000000ull

/* Has a signal its usual effect, as soon as the handler returns. */
static void end_at_once(int signal_number)
{
	catch_no_more();
	if (!in_order)
		io__uncreate_last();
	raise(signal_number);
}

/* The first signal asks for the end, if there is something to end; the second one has its usual
 * effect, or, supervised, none. */
static void on_signal(int signal_number)
{
	const uint64_t one = 1, now = now_ns();
	uint64_t asked_ns = 0;
	int saved = errno;

	if (!in_order) {
		end_at_once(signal_number);
	} else if (__atomic_compare_exchange_n(&end_asked_ns, &asked_ns, now, false,
					       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		keys__stop(); /* before the next one */
		if (write(stop_fd, &one, sizeof(one)) < 0)
			end_at_once(signal_number);
	} else if (!supervised && now > asked_ns + SAME_NS) {
		end_at_once(signal_number);
	}
	errno = saved;
}

/* A byte for each, that of its key, so that they are done one by one and in their order. */
static void on_wish(int signal_number)
{
	const char wish = signal_number == SIGUSR1 ? 'p' : signal_number == SIGUSR2 ? 's' : RESIZED;
	int saved = errno;

	if (write(wish_fd, &wish, 1) < 0)
		errno = saved; /* 65536 wait already */
	errno = saved;
}

/* The places that signals write to. */
static int open_signals(struct watch *w)
{
	int pair[2];

	w->fds[AT_SIGNAL].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->fds[AT_SIGNAL].fd < 0 || pipe2(pair, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	w->fds[AT_WISH].fd = pair[0];
	w->wishes = pair[1];
	stop_fd = w->fds[AT_SIGNAL].fd;
	wish_fd = w->wishes;
	return 0;
}

int watch__new(bool by_supervisor, struct watch **out)
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	const struct sigaction wish = {.sa_handler = on_wish, .sa_flags = SA_RESTART};
	struct watch *w = calloc(1, sizeof(*w));
	struct sigaction before;
	int err;

	if (!w)
		return -ENOMEM;
	w->fds = calloc(AT_TARGETS, sizeof(*w->fds));
	if (!w->fds) {
		free(w);
		return -ENOMEM;
	}
	w->fds_cnt = AT_TARGETS;
	for (size_t i = 0; i < AT_TARGETS; i++)
		w->fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	w->wishes = -1;
	err = open_signals(w);
	if (err) {
		log_error("cannot catch signals: %s", strerror(-err));
		watch__free(w);
		return err;
	}
	in_order = false;
	end_asked_ns = 0;
	supervised = by_supervisor;
	/* Also where it was ignored: shells have that for the background jobs of scripts, and a
	 * script may end its job by it (README.md); left ignored, the run would go on for good. */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	hangup_ends |= !sigaction(SIGHUP, NULL, &before) && before.sa_handler == SIG_DFL;
	if (hangup_ends)
		sigaction(SIGHUP, &action, NULL);
	sigaction(SIGUSR1, &wish, NULL);
	sigaction(SIGUSR2, &wish, NULL);
	sigaction(SIGWINCH, &wish, NULL);
	*out = w;
	return 0;
}

void watch__end_in_order(void)
{
	in_order = true;
}

void watch__free(struct watch *w)
{
	if (!w)
		return;
	catch_no_more();
	/* SIGUSR1 and SIGUSR2 may still come, when the result has just been written. */
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	if (w->wishes >= 0)
		close(w->wishes);
	for (size_t i = 0; i < AT_TARGETS; i++) {
		if (w->fds[i].fd >= 0 && i != AT_OUTPUT && i != AT_LIFE && i != AT_KEEPER &&
		    i != AT_KEYS)
			close(w->fds[i].fd);
	}
	free(w->fds);
	free(w);
}

uint64_t watch__first_interval(uint64_t interval_ns, uint64_t start_ns)
{
	uint64_t least_ns = interval_ns / 4;

	return start_ns < interval_ns - least_ns ? interval_ns - start_ns : least_ns;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

/* Expires after `first_ns`, and then each `ns`; 0: once. Returns -1 if there is none. */
static int timer_start(uint64_t first_ns, uint64_t ns)
{
	struct itimerspec when = {.it_value = timespec_of(first_ns),
				  .it_interval = timespec_of(ns)};
	int fd;

	if (!first_ns)
		return -1;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd >= 0)
		timerfd_settime(fd, 0, &when, NULL);
	return fd;
}

int watch__start(struct watch *w, const struct target *t, const struct watch_fds *fds,
		 const struct watch_times *times)
{
	struct pollfd *grown = reallocarray(w->fds, AT_TARGETS + t->processes_cnt, sizeof(*grown));
	uint64_t tick_ns = times->tick_ns ? times->tick_ns : TICK_NS;
	struct stat st;

	if (!grown)
		return -ENOMEM;
	w->fds = grown;
	for (size_t i = 0; i < t->processes_cnt; i++)
		grown[AT_TARGETS + i] = (struct pollfd){t->processes[i].pidfd, POLLIN, 0};
	w->fds_cnt = AT_TARGETS + t->processes_cnt;
	w->alive = t->processes_cnt;
	grown[AT_LIFE].fd = fds->life;
	grown[AT_KEEPER].fd = fds->link_holder;
	grown[AT_KEYS].fd = fds->keys;
	w->screen = fds->screen;
	grown[AT_DURATION].fd = timer_start(times->duration_ns, 0);
	grown[AT_INTERVAL].fd = timer_start(times->first_ns ? times->first_ns : times->interval_ns,
					    times->interval_ns);
	grown[AT_SKIP].fd = timer_start(times->skip_ns, 0);
	grown[AT_TICK].fd = timer_start(tick_ns, tick_ns);
	/* The writing end of a pipe reports an error once the reader has gone. */
	if (!fstat(fds->out, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		grown[AT_OUTPUT] = (struct pollfd){fds->out, 0, 0};
	return 0;
}

void watch__look_in(struct watch *w, uint64_t ns)
{
	struct itimerspec when = {.it_value = timespec_of(ns)};

	if (w->fds[AT_LOOK].fd >= 0)
		timerfd_settime(w->fds[AT_LOOK].fd, 0, &when, NULL);
	else
		w->fds[AT_LOOK].fd = timer_start(ns, 0);
}

/* Whether a timer has expired, or a signal come; takes note of it. */
static bool expired(struct pollfd *pfd)
{
	uint64_t times;

	return pfd->revents && read(pfd->fd, &times, sizeof(times)) == sizeof(times);
}

/* Takes note of targets that have ended; returns whether the last one has. */
static bool all_ended(struct watch *w)
{
	if (!w->alive)
		return false; /* no particular targets (-x), or told already */
	for (size_t i = AT_TARGETS; i < w->fds_cnt; i++) {
		if (w->fds[i].fd >= 0 && w->fds[i].revents) {
			w->fds[i].fd = -1; /* the target closes it */
			w->alive--;
		}
	}
	return !w->alive;
}

static bool event_of(char wish, enum watch_event *event)
{
	switch (wish) {
	case ' ':
	case 'p':
		*event = WATCH_SWITCH;
		return true;
	case 's':
		*event = WATCH_SNAPSHOT;
		return true;
	case 'q':
		*event = WATCH_SIGNAL;
		return true;
	default:
		return false;
	}
}

/* The event that a signal or a key has asked for first; false: none. */
static bool wished(struct watch *w, enum watch_event *event)
{
	char wish;

	if (w->fds[AT_WISH].revents && read(w->fds[AT_WISH].fd, &wish, 1) == 1) {
		*event = WATCH_KEYS;
		return (wish == RESIZED && w->screen) || event_of(wish, event);
	}
	if (!w->fds[AT_KEYS].revents)
		return false;
	if (w->screen) {
		*event = w->fds[AT_KEYS].revents & POLLIN ? WATCH_KEYS : WATCH_SIGNAL;
		return true;
	}
	if (read(w->fds[AT_KEYS].fd, &wish, 1) == 1)
		return event_of(wish, event);
	w->fds[AT_KEYS].fd = -1; /* the terminal has gone */
	return false;
}

enum watch_event watch__next(struct watch *w)
{
	enum watch_event event;

	for (;;) {
		if (poll(w->fds, w->fds_cnt, -1) < 0) {
			if (errno == EINTR)
				continue;
			log_error("cannot wait for events: %s", strerror(errno));
			return WATCH_SIGNAL;
		}
		if (expired(&w->fds[AT_SIGNAL]))
			return WATCH_SIGNAL;
		if (w->fds[AT_KEEPER].revents)
			return WATCH_LOST;
		if (wished(w, &event))
			return event;
		if (all_ended(w))
			return WATCH_ENDED;
		if (expired(&w->fds[AT_DURATION]))
			return WATCH_DURATION;
		if (w->fds[AT_OUTPUT].revents)
			return WATCH_CLOSED;
		if (expired(&w->fds[AT_SKIP]))
			return WATCH_SKIPPED;
		if (expired(&w->fds[AT_INTERVAL]))
			return WATCH_INTERVAL;
		if (expired(&w->fds[AT_LOOK]))
			return WATCH_LOOK;
		if (expired(&w->fds[AT_TICK]))
			return WATCH_TICK;
		/* The last one: a process that loads files all the time always has news. */
		if (w->fds[AT_LIFE].revents)
			return WATCH_LIFE;
	}
}
