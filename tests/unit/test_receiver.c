// SPDX-License-Identifier: GPL-2.0-or-later
/* Receivers that are slow, broken or hostile: each is a thread that answers one request, or more.
 */
#include "fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fleet/receiver.h"
#include "record/format/run_info.h"
#include "record/writer.h"
#include "util/clock.h"

#define REQUESTS 14

struct server {
	int fd;
	uint16_t port;
	pthread_t thread;
	const char *answers[REQUESTS]; /* "": none, and the connection stays; NULL: closed */
	int answered;
	bool floods; /* the answer has no end */
};

static char recording[64];

static int make_recording(void **state)
{
	static const struct run_info info = {1700000000, "9", "host", "6.18", "x86_64", 0, NULL, 0};
	static const struct run_end end = {"done"};
	static char name[] = "proftrace-test-receiver";
	struct profile *p = fixture_small();
	struct writer *w;
	int fd = memfd_create(name, 0);

	snprintf(recording, sizeof(recording), "/proc/self/fd/%d", fd);
	assert_int_equal(writer__open(recording, false, &w), 0);
	assert_int_equal(writer__begin(w, &info), 0);
	assert_int_equal(writer__profile(w, p), 0);
	assert_int_equal(writer__end(w, &end), 0);
	writer__free(w);
	profile__free(p);
	return 0;
}

/* Reads a request up to the end of its body, which it does not look at. */
static bool read_request(int fd)
{
	static const char length[] = "Content-Length: ";
	char data[1 << 16] = "";
	size_t len = 0;

	while (len < sizeof(data) - 1) {
		ssize_t got = read(fd, data + len, sizeof(data) - 1 - len);
		const char *end, *body;

		if (got <= 0)
			return false;
		data[len += got] = 0;
		end = strstr(data, "\r\n\r\n");
		body = strcasestr(data, length);
		if (end && data + len >= end + 4 + (body ? atol(body + strlen(length)) : 0))
			return true;
	}
	return false;
}

static void flood(int fd)
{
	static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
	char data[1 << 16];

	memset(data, 'x', sizeof(data));
	if (write(fd, head, strlen(head)) < 0)
		return;
	while (send(fd, data, sizeof(data), MSG_NOSIGNAL) > 0)
		;
}

static void *serve(void *server)
{
	struct server *s = server;
	int fd;

	while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
		while (s->answered < REQUESTS && read_request(fd)) {
			const char *answer = s->answers[s->answered++];

			if (s->floods)
				flood(fd);
			if (!answer || s->floods)
				break;
			if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
				break;
		}
		close(fd);
	}
	return NULL;
}

static void start(struct server *s)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);

	s->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(s->fd, 4), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &len), 0);
	s->port = ntohs(at.sin_port);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop(struct server *s)
{
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->fd);
}

/* Sends a recording to the server; `error` has room for the reason of a failure. */
static enum receiver_result send_to(struct server *s, const char *scheme, char *error, size_t size)
{
	const struct receiver_options o = {.timeout_s = 1};
	const struct recording_labels labels = {.service = "api"};
	enum receiver_result result;
	struct receiver *r;
	char url[64];

	start(s);
	snprintf(url, sizeof(url), "%s://127.0.0.1:%u/db", scheme, s->port);
	assert_int_equal(receiver__open(url, &o, &r), 0);
	result = receiver__send(r, recording, &labels);
	snprintf(error, size, "%s", receiver__error(r));
	receiver__free(r);
	stop(s);
	return result;
}

static void expect(struct server s, enum receiver_result expected, const char *error)
{
	uint64_t begin_ns = now_ns();
	char why[1024];

	assert_int_equal(send_to(&s, "clickhouse", why, sizeof(why)), expected);
	if (!strstr(why, error))
		fail_msg("'%s' is not in '%s'", error, why);
	assert_null(strchr(why, '\n'));
	assert_true(now_ns() - begin_ns < 5000000000);
}

#define OK	   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n0\n"
#define ONE	   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1\n"
#define EMPTY	   "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define SAYS(code) "HTTP/1.1 " code " x\r\nContent-Length: 10\r\n\r\nno\x1b[31m\nyes"

static void test_sent(void **state)
{
	/* Whether it is at work, whether it is there, functions, paths, four tables: of each
	 * whether it has it (of paths also whether their sums have), and the row. */
	expect((struct server){.answers = {OK, OK, EMPTY, EMPTY, OK, OK, EMPTY, OK, EMPTY, OK,
					   EMPTY, OK, EMPTY}},
	       RECEIVER_SENT, "");
	/* The last attempt came as far as to two of them. */
	expect((struct server){.answers = {OK, OK, EMPTY, EMPTY, ONE, ONE, ONE, OK, EMPTY, OK,
					   EMPTY}},
	       RECEIVER_SENT, "");
	/* The last attempt came as far as to the sums of paths, or to paths and not to their sums.
	 */
	expect((struct server){.answers = {OK, OK, EMPTY, EMPTY, OK, ONE, EMPTY, ONE, ONE, OK,
					   EMPTY}},
	       RECEIVER_SENT, "");
	expect((struct server){.answers = {OK, OK, EMPTY, EMPTY, ONE, OK, EMPTY, ONE, ONE, OK,
					   EMPTY}},
	       RECEIVER_SENT, "");
	/* The profile is there already. */
	expect((struct server){.answers = {OK, ONE}}, RECEIVER_SENT, "");
}

static void test_not_now(void **state)
{
	expect((struct server){.answers = {OK, OK, SAYS("500")}}, RECEIVER_LATER, "500");
	expect((struct server){.answers = {SAYS("503")}}, RECEIVER_LATER, "no\\x1b[31m");
	expect((struct server){.answers = {SAYS("401")}}, RECEIVER_LATER, "401");
	expect((struct server){.answers = {SAYS("302")}}, RECEIVER_LATER, "redirects");
	expect((struct server){.answers = {"garbage\r\n\r\n"}}, RECEIVER_LATER, "");
	expect((struct server){.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
					   NULL}},
	       RECEIVER_LATER, "time");
	expect((struct server){.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"}},
	       RECEIVER_LATER, "not as ClickHouse does");
	expect((struct server){.answers = {NULL}}, RECEIVER_LATER, "");
	expect((struct server){.answers = {""}}, RECEIVER_LATER, "time");
	expect((struct server){.floods = true}, RECEIVER_LATER, "longer than makes sense");
}

static void test_never(void **state)
{
	expect((struct server){.answers = {OK, OK, EMPTY, EMPTY, OK, SAYS("400")}},
	       RECEIVER_REFUSED, "400");
}

static void test_no_tls(void **state)
{
	struct server s = {.answers = {OK}};
	char why[1024];

	assert_int_equal(send_to(&s, "clickhouses", why, sizeof(why)), RECEIVER_LATER);
	assert_true(*why);
	assert_int_equal(s.answered, 0);
}

static void test_no_recording(void **state)
{
	const struct receiver_options o = {.timeout_s = 1};
	const struct recording_labels labels = {0};
	struct receiver *r;

	assert_int_equal(receiver__open("clickhouse://127.0.0.1:1/db", &o, &r), 0);
	assert_int_equal(receiver__send(r, "/dev/null", &labels), RECEIVER_REFUSED);
	assert_int_equal(receiver__send(r, "/nonexistent", &labels), RECEIVER_REFUSED);
	assert_int_equal(receiver__send(r, recording, &labels), RECEIVER_LATER);
	assert_non_null(strstr(receiver__error(r), "clickhouse://127.0.0.1:1/db"));
	receiver__free(r);
	assert_int_equal(receiver__open("clickhouse://h/db'; DROP", &o, &r), -EINVAL);
	assert_int_equal(receiver__open("clickhouse://h/", &o, &r), -EINVAL);
	assert_int_equal(receiver__open("ftp://h/db", &o, &r), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sent),	     cmocka_unit_test(test_not_now),
		cmocka_unit_test(test_never),	     cmocka_unit_test(test_no_tls),
		cmocka_unit_test(test_no_recording),
	};

	return cmocka_run_group_tests(tests, make_recording, NULL);
}
