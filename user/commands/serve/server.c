// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/net_address.h"
#include "serve/channel.h"
#include "serve/daemon.h"
#include "serve/document.h"
#include "serve/http.h"
#include "serve/request.h"
#include "sink/sink.h"
#include "util/log.h"

#define ROWS_AT_FIRST	 1000
#define END_MS		 4000
#define HEARD_MOST	 8
#define BYTES_PER_SECOND 48000 /* that a viewer is sent, HTTP's own left out */

struct server {
	pid_t pid;
	int channel; /* -1: the process has gone */
	bool asked;
	bool writable; /* viewers may wish something */
	struct channel_ask wish;
	size_t rows;	/* to be shown */
	uint64_t bytes; /* the last update's, compressed */
};

static void lose(struct server *s)
{
	log_warn("the process that serves the page has ended: it is not served any more");
	close(s->channel);
	s->channel = -1;
}

/* Returns 1: it asks for an update, 0: it does not, or -EPIPE. */
static int hear(struct server *s)
{
	struct channel_ask ask;
	ssize_t n;

	do
		n = recv(s->channel, &ask, sizeof(ask), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n != sizeof(ask) || ask.wish >= WISHES)
		return -EPIPE;
	if (ask.wish != WISH_UPDATE) {
		s->wish = ask;
		return 0;
	}
	s->bytes = ask.bytes;
	return 1;
}

static void announce(const struct net_address *a, const char *token)
{
	char name[320];

	net_address__name(a, name, sizeof(name));
	/* With -q as well: nobody could guess it. */
	log_at(LOG_ERROR, "the page is at http://%s/%s%s", name, token, *token ? "/" : "");
	if (!net_address__is_loopback(a))
		log_warn("the page is sent unencrypted: for other machines ssh -L is private");
}

int server__start(const struct net_address *address, bool any_viewer, struct server **out)
{
	struct server *s = calloc(1, sizeof(*s));
	struct net_address at = *address;
	char token[TOKEN_SIZE] = "", name[320];
	int listener, err = s ? 0 : -ENOMEM;

	if (!err && !any_viewer)
		err = token__make(token);
	if (err) {
		free(s);
		return err;
	}
	s->rows = ROWS_AT_FIRST;
	s->writable = !any_viewer;
	s->channel = -1;
	listener = net_address__listen(&at);
	if (listener < 0) {
		log_error("--serve %s: %s", net_address__name(address, name, sizeof(name)),
			  strerror(-listener));
		server__free(s);
		return listener;
	}
	err = daemon__fork(http__run, token, listener, &s->pid, &s->channel);
	close(listener);
	if (err < 0) {
		server__free(s);
		return err; /* it has told why */
	}
	announce(&at, token);
	*out = s;
	return 0;
}

/* Takes what has been asked for; a little at a time, whoever sends it. */
static void hear_all(struct server *s)
{
	struct pollfd fd = {.events = POLLIN};

	for (int i = 0; s && s->channel >= 0 && i < HEARD_MOST; i++) {
		int heard;

		fd.fd = s->channel;
		if (poll(&fd, 1, 0) <= 0)
			return;
		heard = hear(s);
		if (heard < 0)
			lose(s);
		else if (heard)
			s->asked = true;
	}
}

bool server__wish(struct server *s, uint32_t *function, bool *all)
{
	hear_all(s);
	if (!s || !s->writable || s->wish.wish == WISH_UPDATE)
		return false;
	*function = s->wish.wish == WISH_RELEASE ? UINT32_MAX : s->wish.function;
	*all = s->wish.wish == WISH_ZOOM_ALL;
	s->wish.wish = WISH_UPDATE;
	return true;
}

bool server__is_asked(struct server *s)
{
	hear_all(s);
	return s && s->channel >= 0 && s->asked;
}

static int write_document(struct server *s, struct profile **p, const struct sink_options *opts,
			  int fd)
{
	struct sink_options own = *opts;
	FILE *out = fdopen(fd, "w");
	int err;

	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	own.zooms = s->writable;
	err = document__write(p, &own, s->rows, out);
	if (!err && channel__send_fd(s->channel, fd))
		lose(s);
	fclose(out);
	return err;
}

int server__update(struct server *s, struct profile **p, const struct sink_options *opts,
		   uint64_t apart_ns)
{
	double limit = (double)BYTES_PER_SECOND * (double)apart_ns / 1e9;
	int fd;

	if (!server__is_asked(s))
		return 0;
	s->rows = document__fit(s->rows, s->bytes, limit);
	fd = memfd_create("proftrace-page", MFD_CLOEXEC);
	if (fd < 0)
		return -ENOMEM;
	s->asked = false;
	return write_document(s, p, opts, fd) ? -ENOMEM : 0;
}

/* Gives viewers their time to read the rest of their stream, and a little more; then kills. */
static void await_end(struct server *s)
{
	struct pollfd end = {.fd = s->channel, .events = 0};

	shutdown(s->channel, SHUT_WR);
	if (s->pid > 0 && poll(&end, 1, END_MS) <= 0)
		kill(s->pid, SIGKILL);
	close(s->channel);
}

void server__free(struct server *s)
{
	if (!s)
		return;
	if (s->channel >= 0)
		await_end(s);
	while (s->pid > 0 && waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(s);
}
