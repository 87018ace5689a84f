// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread does it all: nothing here waits but poll(). A viewer who is behind is sent the rest of
 * the update that it has begun to read, and then the newest. libmicrohttpd is loaded here alone,
 * where there are no privileges: it brings TLS with it.
 */
#include "serve/http.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "security/privilege.h"
#include "security/sandbox.h"
#include "serve/channel.h"
#include "serve/request.h"
#include "serve/update.h"
#include "sink/page/page.h"
#include "util/clock.h"
#include "util/log.h"

#define LIBRARY "libmicrohttpd.so.12"
#define NOBODY	65534
#define VIEWERS 128	     /* connections; others wait until one of these is closed */
#define IDLE_S	15	     /* a connection on which nothing moves is closed */
#define MEMORY	(48 << 10)   /* of a connection: what it asks, and of what it is sent */
#define PIECE	(16 << 10)   /* of an update that is given at a time */
#define LAST_NS 2000000000l  /* viewers may take so long for the end of the stream */
#define LARGEST (256l << 20) /* bytes of an update before it is compressed */

#define FUNCTIONS(of)                                                                   \
	of(start_daemon) of(run) of(get_timeout) of(get_daemon_info)                    \
		of(create_response_from_buffer) of(create_response_from_callback)       \
			of(add_response_header) of(queue_response) of(destroy_response) \
				of(lookup_connection_value) of(suspend_connection)      \
					of(resume_connection)

#define DECLARE(name) __typeof__(&MHD_##name) name;
static struct {
	FUNCTIONS(DECLARE)
} mhd;

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
	struct MHD_Response *answers[5]; /* by enum answer; ANSWER_EVENTS: each has its own */
} http;

static bool load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool ok = library;

#define FIND(name) ok = ok && (mhd.name = dlsym(library, "MHD_" #name));
	FUNCTIONS(FIND)
	if (!ok)
		log_error("--serve needs libmicrohttpd: %s", dlerror());
	return ok;
}

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

/* What browsers are to know of each answer. */
static void add_headers(struct MHD_Response *r, const char *type)
{
	static const char *const headers[][2] = {
		{"Cache-Control", "no-store"},
		{"Referrer-Policy", "no-referrer"},
		{"X-Content-Type-Options", "nosniff"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Content-Security-Policy", "frame-ancestors 'none'"},
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		mhd.add_response_header(r, headers[i][0], headers[i][1]);
	mhd.add_response_header(r, "Content-Type", type);
}

static struct MHD_Response *make_answer(const char *text, size_t len, const char *type)
{
	struct MHD_Response *r =
		mhd.create_response_from_buffer(len, (void *)text, MHD_RESPMEM_PERSISTENT);

	if (r)
		add_headers(r, type);
	return r;
}

static bool make_answers(void)
{
	static const char *const texts[] = {
		[ANSWER_NOTHING] = "Nothing is here. The page's address has a token in it: the one "
				   "that proftrace has said as it began.\n",
		[ANSWER_OTHER_METHOD] = "There is only something to GET here.\n",
		[ANSWER_FORBIDDEN] = "Another site may not ask for this.\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (texts[i])
			http.answers[i] = make_answer(texts[i], strlen(texts[i]), "text/plain");
	}
	http.answers[ANSWER_PAGE] =
		make_answer(page_live, page_live_end - page_live, "text/html; charset=utf-8");
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
	add_headers(r, "text/event-stream");
	mhd.add_response_header(r, "Content-Encoding", "gzip");
	result = mhd.queue_response(c, MHD_HTTP_OK, r);
	mhd.destroy_response(r); /* the connection uses it */
	return result;
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
	};
	const struct request r = {
		.method = method,
		.path = path,
		.host = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Host"),
		.origin = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Origin"),
	};
	enum answer what = request__judge(&r, http.token);

	if (what == ANSWER_EVENTS)
		return answer_events(c);
	return mhd.queue_response(c, codes[what], http.answers[what]);
}

static void say_nothing(void *ctx, const char *format, va_list args)
{
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

/* As long as somebody looks. The first one says that we are ready. */
static void ask(int channel)
{
	const struct channel_ask ask = {.bytes = http.latest ? http.latest->len : 0};

	http.asked = send(channel, &ask, sizeof(ask), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(ask);
}

static int wait_ms(struct MHD_Daemon *daemon)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (mhd.get_timeout(daemon, &ms) != MHD_YES)
		return http.ending ? 100 : -1;
	return http.ending && ms > 100 ? 100 : ms > 60000 ? 60000 : (int)ms;
}

static void serve(struct MHD_Daemon *daemon, int epoll, int channel)
{
	struct pollfd fds[] = {{epoll, POLLIN, 0}, {channel, POLLIN, 0}};
	uint64_t until_ns = 0;

	while (!http.ending || (http.viewers && now_ns() < until_ns)) {
		poll(fds, http.ending ? 1 : 2, wait_ms(daemon));
		if (!http.ending && fds[1].revents && !take_update(channel)) {
			http.ending = true;
			until_ns = now_ns() + LAST_NS;
			wake_viewers();
		}
		mhd.run(daemon);
		if (!http.ending && http.viewers && !http.asked)
			ask(channel);
	}
}

/* Those that are the run's: it ends us by closing the channel. */
static void ignore_signals(void)
{
	static const int signals[] = {SIGHUP,  SIGINT,	SIGQUIT, SIGTERM,
				      SIGPIPE, SIGUSR1, SIGUSR2, SIGWINCH};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_IGN);
}

/* The channel is descriptor 3, the listening socket 4; there are no others. */
static void keep_two(int channel, int listener)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int a = fcntl(channel, F_DUPFD_CLOEXEC, 5), b = fcntl(listener, F_DUPFD_CLOEXEC, 5);

	dup2(null, 0);
	dup2(null, 1);
	if (dup3(a, 3, O_CLOEXEC) < 0 || dup3(b, 4, O_CLOEXEC) < 0)
		_exit(1);
	close_range(5, ~0u, 0);
}

_Noreturn void http__run(int channel, int listener, const char *token)
{
	const union MHD_DaemonInfo *info = NULL;
	struct MHD_Daemon *daemon = NULL;

	prctl(PR_SET_NAME, "proftrace-serve");
	ignore_signals();
	keep_two(channel, listener);
	http.token = token;
	privilege__become(NOBODY, NOBODY); /* only root can, and need */
	privilege__drop_all();
	if (!load())
		_exit(1);
	daemon = mhd.start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer,
				  NULL, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
				  MHD_OPTION_LISTEN_SOCKET, 4, MHD_OPTION_CONNECTION_LIMIT,
				  (unsigned int)VIEWERS, MHD_OPTION_CONNECTION_TIMEOUT,
				  (unsigned int)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				  (size_t)MEMORY, MHD_OPTION_END);
	if (daemon)
		info = mhd.get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info || !make_answers()) {
		log_error("--serve: libmicrohttpd does not begin: %s", strerror(errno));
		_exit(1);
	}
	sandbox__enter(NULL);
	ask(3);
	http.asked = false;
	serve(daemon, info->epoll_fd, 3);
	_exit(0);
}
