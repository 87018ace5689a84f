// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/scrape.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/channel.h"
#include "serve/daemon.h"
#include "serve/request.h"
#include "sink/gzip.h"
#include "util/io.h"
#include "util/log.h"
#include "util/net_address.h"

#define LARGEST (64l << 20) /* bytes of a text */

struct scrape {
	pid_t pid;
	int channel;
};

/* Settings that the process begins with. */
struct scrape_spec {
	const char *type;
	bool any_host; /* whoever reaches us may read */
};

/* Its own state. */
static struct served {
	const struct scrape_spec *spec;
	char *text;
	size_t len;
	struct MHD_Response *plain,
		*packed; /* of the text; packed: once somebody has asked for it */
	struct MHD_Response *not_yet, *nothing, *other_method, *forbidden;
} served;

static bool wants_gzip(struct MHD_Connection *c)
{
	const char *accepted = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Accept-Encoding");

	return accepted && strstr(accepted, "gzip");
}

/* A response that frees its text. NULL: no memory, and the text is freed. */
static struct MHD_Response *own_answer(char *text, size_t len)
{
	struct MHD_Response *r =
		text ? mhd.create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE) : NULL;

	if (r)
		daemon__add_headers(r, served.spec->type);
	else
		free(text);
	return r;
}

/* Compresses once for all who ask. */
static struct MHD_Response *packed_answer(void)
{
	char *data = NULL;
	size_t len = 0;
	FILE *out = served.packed ? NULL : open_memstream(&data, &len);
	struct gzip *gz = NULL;
	int err;

	if (!out)
		return served.packed;
	err = gzip__open(out, &gz);
	if (!err)
		gzip__write(gz, served.text, served.len);
	gzip__close(gz);
	if (ferror(out) | fclose(out) || err) {
		free(data);
		return NULL;
	}
	served.packed = own_answer(data, len);
	if (served.packed)
		mhd.add_response_header(served.packed, "Content-Encoding", "gzip");
	return served.packed;
}

/* A request has come; whatever it brings along is not read. */
static enum MHD_Result answer(void *ctx, struct MHD_Connection *c, const char *path,
			      const char *method, const char *version, const char *data,
			      size_t *data_len, void **request)
{
	const struct request r = daemon__request(c, path, method);
	struct MHD_Response *packed;

	switch (request__judge_scrape(&r, served.spec->any_host)) {
	case ANSWER_OTHER_METHOD:
		return mhd.queue_response(c, MHD_HTTP_METHOD_NOT_ALLOWED, served.other_method);
	case ANSWER_FORBIDDEN:
		return mhd.queue_response(c, MHD_HTTP_FORBIDDEN, served.forbidden);
	case ANSWER_PAGE:
		break;
	default:
		return mhd.queue_response(c, MHD_HTTP_NOT_FOUND, served.nothing);
	}
	if (!served.plain)
		return mhd.queue_response(c, MHD_HTTP_SERVICE_UNAVAILABLE, served.not_yet);
	packed = wants_gzip(c) ? packed_answer() : NULL;
	return mhd.queue_response(c, MHD_HTTP_OK, packed ? packed : served.plain);
}

static struct MHD_Response *say(const char *text)
{
	return daemon__answer(text, strlen(text), "text/plain");
}

static bool make_answers(void)
{
	served.not_yet = say("There are no metrics yet.\n");
	served.nothing = say("Nothing is here: metrics are at /metrics.\n");
	served.other_method = say("There is only something to GET here.\n");
	served.forbidden = say("Another site may not ask for this.\n");
	if (!served.not_yet || !served.nothing || !served.other_method || !served.forbidden)
		return false;
	mhd.add_response_header(served.other_method, "Allow", "GET, HEAD");
	return true;
}

static void release(struct MHD_Response **r)
{
	if (*r)
		mhd.destroy_response(*r); /* connections that use it keep it */
	*r = NULL;
}

/* Takes a text over. False: there will be none any more. */
static bool take_text(void)
{
	int fd = channel__receive_fd(DAEMON_CHANNEL);
	struct MHD_Response *r = NULL;
	char *text = NULL;
	struct stat st;

	if (fd < 0)
		return fd == -EAGAIN;
	if (!fstat(fd, &st) && st.st_size > 0 && st.st_size < LARGEST)
		text = malloc(st.st_size);
	if (text && pread(fd, text, st.st_size, 0) == st.st_size)
		r = own_answer(text, st.st_size);
	else
		free(text);
	close(fd);
	if (!r)
		return true; /* what was there before is better than nothing */
	release(&served.plain);
	release(&served.packed);
	served.plain = r;
	served.text = text; /* as long as `plain` is there */
	served.len = st.st_size;
	return true;
}

static void run(const void *spec)
{
	const struct channel_ask ready = {0};
	struct daemon d;

	served.spec = spec;
	daemon__begin(&d, "proftrace-metr", "metrics", answer);
	if (!make_answers()) {
		log_error("metrics: libmicrohttpd does not begin: %s", strerror(errno));
		_exit(1);
	}
	daemon__settle();
	send(DAEMON_CHANNEL, &ready, sizeof(ready), MSG_NOSIGNAL);
	for (;;) {
		struct pollfd fds[] = {{d.epoll, POLLIN, 0}, {DAEMON_CHANNEL, POLLIN, 0}};

		poll(fds, 2, daemon__wait_ms(&d));
		if (fds[1].revents && !take_text())
			return;
		mhd.run(d.mhd);
	}
}

int scrape__start(struct net_address *address, const char *type, struct scrape **out)
{
	const struct scrape_spec spec = {type, !net_address__is_loopback(address)};
	struct scrape *s = calloc(1, sizeof(*s));
	char name[320];
	int listener, err;

	if (!s)
		return -ENOMEM;
	s->channel = -1;
	listener = net_address__listen(address);
	if (listener < 0) {
		log_error("metrics: cannot listen at %s: %s",
			  net_address__name(address, name, sizeof(name)), strerror(-listener));
		free(s);
		return listener;
	}
	err = daemon__fork(run, &spec, listener, &s->pid, &s->channel);
	close(listener);
	if (err) {
		scrape__free(s);
		return err;
	}
	*out = s;
	return 0;
}

int scrape__update(struct scrape *s, const char *text, size_t len)
{
	int fd = memfd_create("proftrace-metrics", MFD_CLOEXEC), err;

	if (fd < 0)
		return -ENOMEM;
	err = io__write_all(fd, text, len) ? -ENOMEM : channel__send_fd(s->channel, fd);
	close(fd);
	/* There is one that it has not taken yet: the next will do. */
	return err == -EAGAIN ? 0 : err && err != -ENOMEM ? -EPIPE : err;
}

void scrape__free(struct scrape *s)
{
	if (!s)
		return;
	if (s->channel >= 0)
		close(s->channel);
	if (s->pid > 0) {
		kill(s->pid, SIGKILL); /* nobody waits for the rest of anything */
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(s);
}
