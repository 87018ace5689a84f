// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread does it all: nothing here waits but poll(). A viewer who is behind is sent the rest of
 * the update that it has begun to read, and then the newest.
 */
#include "serve/http.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/channel.h"
#include "serve/daemon.h"
#include "serve/request.h"
#include "serve/update.h"
#include "sink/page/page.h"
#include "util/clock.h"
#include "util/log.h"

#define PIECE	(16 << 10)   /* of an update that is given at a time */
#define WISH_NS 200000000l   /* from wish to wish, at least */
#define LAST_NS 2000000000l  /* viewers may take so long for the end of the stream */
#define LARGEST (256l << 20) /* bytes of an update before it is compressed */

struct viewer {
	struct viewer *next, **at;
	struct MHD_Connection *connection;
	struct update *update; /* what it is being sent */
	size_t sent;	       /* of it */
	bool waits;	       /* for the next update */
	bool left;	       /* there is no more to send */
};

static struct http {
	const char *token;
	struct update *first, *latest, *last; /* `last`: the stream's end */
	struct viewer *viewers;
	bool asked, ending;
	struct MHD_Response *answers[ANSWERS]; /* ANSWER_EVENTS: each has its own */
	uint64_t wished_ns;		       /* the last wish */
} http;

/* The next update for a viewer who has read his; NULL: there is none yet. */
static struct update *next_for(const struct viewer *v)
{
	if (http.latest && v->update != http.latest && v->update != http.last)
		return http.latest;
	return http.ending && v->update != http.last ? http.last : NULL;
}

/* Gives libmicrohttpd more of the stream. */
static ssize_t feed(void *ctx, uint64_t at, char *buf, size_t max)
{
	struct viewer *v = ctx;
	struct update *next;

	if (v->sent == v->update->len) {
		next = next_for(v);
		if (!next && http.ending)
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (!next) {
			v->waits = true;
			mhd.suspend_connection(v->connection);
			return 0;
		}
		update__release(v->update);
		v->update = update__use(next);
		v->sent = 0;
	}
	if (max > v->update->len - v->sent)
		max = v->update->len - v->sent;
	memcpy(buf, v->update->bytes + v->sent, max);
	v->sent += max;
	return max;
}

static void viewer_free(void *ctx)
{
	struct viewer *v = ctx;

	*v->at = v->next;
	if (v->next)
		v->next->at = v->at;
	update__release(v->update);
	free(v);
}

static void wake_viewers(void)
{
	for (struct viewer *v = http.viewers; v; v = v->next) {
		if (v->waits)
			mhd.resume_connection(v->connection);
		v->waits = false;
	}
}

static bool make_answers(void)
{
	static const char *const texts[] = {
		[ANSWER_NOTHING] = "Nothing is here. The page's address has a token in it: the one "
				   "that proftrace has said as it began.\n",
		[ANSWER_OTHER_METHOD] = "There is only something to GET here.\n",
		[ANSWER_FORBIDDEN] = "Another site may not ask for this.\n",
		[ANSWER_WISH] = "",
		[ANSWER_LATER] = "Not so often.\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (texts[i])
			http.answers[i] = daemon__answer(texts[i], strlen(texts[i]), "text/plain");
	}
	http.answers[ANSWER_PAGE] =
		daemon__answer(page_live, page_live_end - page_live, "text/html; charset=utf-8");
	if (!http.answers[ANSWER_PAGE])
		return false;
	mhd.add_response_header(http.answers[ANSWER_PAGE], "Content-Encoding", "gzip");
	mhd.add_response_header(http.answers[ANSWER_OTHER_METHOD], "Allow", "GET, HEAD");
	http.first = update__first();
	http.last = update__new("end", "{}", 2);
	return http.first && http.last;
}

static enum MHD_Result answer_events(struct MHD_Connection *c)
{
	struct viewer *v = calloc(1, sizeof(*v));
	struct MHD_Response *r =
		v ? mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, feed, v, viewer_free)
		  : NULL;
	enum MHD_Result result;

	if (!r) {
		free(v);
		return MHD_NO;
	}
	v->connection = c;
	v->update = update__use(http.first);
	v->next = http.viewers;
	v->at = &http.viewers;
	if (v->next)
		v->next->at = &v->next;
	http.viewers = v;
	daemon__add_headers(r, "text/event-stream");
	mhd.add_response_header(r, "Content-Encoding", "gzip");
	result = mhd.queue_response(c, MHD_HTTP_OK, r);
	mhd.destroy_response(r); /* the connection uses it */
	return result;
}

/* Gives the run what a viewer wishes, a few times a second at most. */
static enum answer hand_on(const struct channel_ask *wish)
{
	uint64_t now = now_ns();

	if (http.ending || now < http.wished_ns + WISH_NS)
		return ANSWER_LATER;
	if (send(DAEMON_CHANNEL, wish, sizeof(*wish), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(*wish))
		return ANSWER_LATER;
	http.wished_ns = now;
	return ANSWER_WISH;
}

/* A request has come; whatever it brings along is not read. */
static enum MHD_Result answer(void *ctx, struct MHD_Connection *c, const char *path,
			      const char *method, const char *version, const char *data,
			      size_t *data_len, void **request)
{
	static const unsigned int codes[] = {
		[ANSWER_PAGE] = MHD_HTTP_OK,
		[ANSWER_NOTHING] = MHD_HTTP_NOT_FOUND,
		[ANSWER_OTHER_METHOD] = MHD_HTTP_METHOD_NOT_ALLOWED,
		[ANSWER_FORBIDDEN] = MHD_HTTP_FORBIDDEN,
		[ANSWER_WISH] = MHD_HTTP_NO_CONTENT,
		[ANSWER_LATER] = MHD_HTTP_SERVICE_UNAVAILABLE,
	};
	const struct request r = daemon__request(c, path, method);
	struct channel_ask wish = {0};
	enum answer what = request__judge(&r, http.token, &wish);

	if (what == ANSWER_WISH)
		what = hand_on(&wish);

	if (what == ANSWER_EVENTS)
		return answer_events(c);
	return mhd.queue_response(c, codes[what], http.answers[what]);
}

/* Has the update that the run has handed over sent to all who wait. False: the run is over. */
static bool take_update(int channel)
{
	int fd = channel__receive_fd(channel);
	struct update *u = NULL;
	struct stat st;
	char *text;

	if (fd < 0)
		return fd == -EAGAIN;
	if (!fstat(fd, &st) && st.st_size > 0 && st.st_size < LARGEST) {
		text = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (text != MAP_FAILED) {
			u = update__new("profile", text, st.st_size);
			munmap(text, st.st_size);
		}
	}
	close(fd);
	if (u) {
		update__release(http.latest);
		http.latest = u;
		wake_viewers();
	}
	http.asked = false;
	return true;
}

/* Asks for a document, while somebody looks. The first question also says that we are ready. */
static void ask(int channel)
{
	const struct channel_ask ask = {.bytes = http.latest ? http.latest->len : 0};

	http.asked = send(channel, &ask, sizeof(ask), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(ask);
}

static int wait_ms(const struct daemon *d)
{
	int ms = daemon__wait_ms(d);

	return http.ending && (ms < 0 || ms > 100) ? 100 : ms;
}

static void serve(const struct daemon *d)
{
	struct pollfd fds[] = {{d->epoll, POLLIN, 0}, {DAEMON_CHANNEL, POLLIN, 0}};
	uint64_t until_ns = 0;

	while (!http.ending || (http.viewers && now_ns() < until_ns)) {
		poll(fds, http.ending ? 1 : 2, wait_ms(d));
		if (!http.ending && fds[1].revents && !take_update(DAEMON_CHANNEL)) {
			http.ending = true;
			until_ns = now_ns() + LAST_NS;
			wake_viewers();
		}
		mhd.run(d->mhd);
		if (!http.ending && http.viewers && !http.asked)
			ask(DAEMON_CHANNEL);
	}
}

void http__run(const void *token)
{
	struct daemon d;

	http.token = token;
	daemon__begin(&d, "proftrace-serve", "--serve", answer);
	if (!make_answers()) {
		log_error("--serve: libmicrohttpd does not begin: %s", strerror(errno));
		_exit(1);
	}
	daemon__settle();
	ask(DAEMON_CHANNEL);
	http.asked = false;
	serve(&d);
}
