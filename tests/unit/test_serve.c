// SPDX-License-Identifier: GPL-2.0-or-later
/* The live page's server, without sockets and without a run. */
#include "fixture.h"

#include <netinet/in.h>
#include <zlib.h>

#include "serve/channel.h"
#include "serve/document.h"
#include "serve/request.h"
#include "serve/update.h"
#include "util/net_address.h"

static void test_addresses(void **state)
{
	static const struct {
		const char *text, *name;
		bool loopback;
	} good[] = {
		{"8080", "127.0.0.1:8080", true},
		{"0", "127.0.0.1:0", true},
		{"localhost:1", "127.0.0.1:1", true},
		{"127.1.2.3:65535", "127.1.2.3:65535", true},
		{"192.0.2.1:80", "192.0.2.1:80", false},
		{"[::1]:80", "[::1]:80", true},
		{"[2001:db8::1]:80", "[2001:db8::1]:80", false},
	};
	static const char *const bad[] = {
		"",
		":",
		":80",
		"x",
		"80x",
		"65536",
		"100000",
		"-1",
		"+1",
		" 80",
		"80 ",
		"a:80",
		"1.2.3:80",
		"1.2.3.4:",
		"1.2.3.4",
		"::1:80",
		"[::1]",
		"[::1]80",
		"[::1]:",
		"[]:80",
		"[1.2.3.4]:80",
		"[::1%lo]:80",
		"[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]:1",
	};
	struct net_address a;
	char name[320];

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_true(net_address__parse(good[i].text, &a));
		assert_string_equal(net_address__name(&a, name, sizeof(name)), good[i].name);
		assert_int_equal(net_address__is_loopback(&a), good[i].loopback);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (net_address__parse(bad[i], &a))
			fail_msg("%s is an address", bad[i]);
	}
	/* Not the unspecified one, by which browsers reach nobody. */
	assert_true(net_address__parse("0.0.0.0:80", &a));
	assert_null(strstr(net_address__name(&a, name, sizeof(name)), "0.0.0.0"));
}

#define TOKEN "0123456789abcdef0123456789abcdef"

static struct channel_ask wish;

static enum answer judge(const char *method, const char *path, const char *host, const char *origin,
			 const char *token)
{
	const struct request r = {method, path, host, origin};

	return request__judge(&r, token, &wish);
}

static void test_tokens(void **state)
{
	static const char *const wrong[] = {
		"",
		"/",
		"/events",
		"/" TOKEN,
		"/" TOKEN "x/",
		"/" TOKEN "//",
		"//" TOKEN "/",
		TOKEN "/",
		"/" TOKEN "/event",
		"/" TOKEN "/events/",
		"/0123456789abcdef0123456789abcdee/",
		"/1123456789abcdef0123456789abcdef/",
		"/0123456789ABCDEF0123456789ABCDEF/",
		"/0123456789abcdef0123456789abcde",
	};
	char one[TOKEN_SIZE], two[TOKEN_SIZE];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(judge("GET", wrong[i], "a", NULL, TOKEN), ANSWER_NOTHING);
	assert_int_equal(judge("GET", "/" TOKEN "/", "a", NULL, TOKEN), ANSWER_PAGE);
	assert_int_equal(judge("HEAD", "/" TOKEN "/", NULL, NULL, TOKEN), ANSWER_PAGE);
	assert_int_equal(judge("GET", "/" TOKEN "/events", "a", NULL, TOKEN), ANSWER_EVENTS);
	assert_int_equal(judge("POST", "/" TOKEN "/", "a", NULL, TOKEN), ANSWER_OTHER_METHOD);
	assert_int_equal(judge("get", "/" TOKEN "/", "a", NULL, TOKEN), ANSWER_OTHER_METHOD);

	assert_int_equal(token__make(one), 0);
	assert_int_equal(token__make(two), 0);
	assert_int_equal(strspn(one, "0123456789abcdef"), TOKEN_SIZE - 1);
	assert_string_not_equal(one, two);
}

/* Wishes come from the page's own script, and with a token alone. */
static void test_wishes(void **state)
{
	static const char *const wrong[] = {
		"/zoom",       "/zoom/",     "/zoom/x",		"/zoom/-1", "/zoom/+1",
		"/zoom/1/",    "/zoom/1/al", "/zoom/1/alll",	"/zoom/1x", "/zoom/ 1",
		"/zoom/nonee", "/zoom//1",   "/zoom/123456789", "/events",  "/"};
	char path[100];

	assert_int_equal(judge("POST", "/" TOKEN "/zoom/12", "a", "http://a", TOKEN), ANSWER_WISH);
	assert_true(wish.wish == WISH_ZOOM && wish.function == 12);
	assert_int_equal(judge("POST", "/" TOKEN "/zoom/99999999/all", "a", "http://a", TOKEN),
			 ANSWER_WISH);
	assert_true(wish.wish == WISH_ZOOM_ALL && wish.function == 99999999);
	assert_int_equal(judge("POST", "/" TOKEN "/zoom/none", "a", "http://a", TOKEN),
			 ANSWER_WISH);
	assert_int_equal(wish.wish, WISH_RELEASE);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(path, sizeof(path), "/%s%s", TOKEN, wrong[i]);
		assert_int_equal(judge("POST", path, "a", "http://a", TOKEN), ANSWER_OTHER_METHOD);
	}
	assert_int_equal(judge("POST", "/zoom/12", "a", "http://a", TOKEN), ANSWER_OTHER_METHOD);
	assert_int_equal(judge("POST", "/zoom/12", "localhost", "http://localhost", ""),
			 ANSWER_OTHER_METHOD);
	assert_int_equal(judge("GET", "/" TOKEN "/zoom/12", "a", "http://a", TOKEN),
			 ANSWER_NOTHING);
	assert_int_equal(judge("POST", "/" TOKEN "/zoom/12", "a", "http://b", TOKEN),
			 ANSWER_FORBIDDEN);
	assert_int_equal(judge("POST", "/" TOKEN "/zoom/12", "a", NULL, TOKEN), ANSWER_FORBIDDEN);
	assert_int_equal(judge("POST", "/" TOKEN "/zoom/12", NULL, "http://a", TOKEN),
			 ANSWER_FORBIDDEN);
}

static void test_other_sites(void **state)
{
	static const char *const wrong[] = {"http://b:80",  "http://a", "https://a:80", "null", "",
					    "http://a:80/", "a:80"};

	assert_int_equal(judge("GET", "/events", "[::1]:80", "http://[::1]:80", ""), ANSWER_EVENTS);
	assert_int_equal(judge("GET", "/" TOKEN "/", "a:80", "http://a:80", TOKEN), ANSWER_PAGE);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(judge("GET", "/" TOKEN "/", "a:80", wrong[i], TOKEN),
				 ANSWER_FORBIDDEN);
	assert_int_equal(judge("GET", "/" TOKEN "/", NULL, "http://a:80", TOKEN), ANSWER_FORBIDDEN);
}

/* Without a token a name may be a stranger's. */
static void test_names(void **state)
{
	static const char *const ours[] = {"127.0.0.1:80", "localhost", "LocalHost:80", "[::1]:80",
					   "192.0.2.1"};
	static const char *const others[] = {"evil.example",
					     "localhost.evil.example:80",
					     "127.0.0.1.evil.example",
					     "",
					     ":80",
					     "evil.example:[",
					     "1.2.3"};

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		assert_int_equal(judge("GET", "/", ours[i], NULL, ""), ANSWER_PAGE);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		assert_int_equal(judge("GET", "/", others[i], NULL, ""), ANSWER_FORBIDDEN);
		assert_int_equal(judge("GET", "/" TOKEN "/", others[i], NULL, TOKEN), ANSWER_PAGE);
	}
	assert_int_equal(judge("GET", "/", NULL, NULL, ""), ANSWER_FORBIDDEN);
}

/* Appends what the update adds to a stream. */
static void read_update(z_stream *z, const struct update *u, char *text, size_t size)
{
	size_t len = strlen(text);

	z->next_in = (void *)u->bytes;
	z->avail_in = u->len;
	z->next_out = (void *)(text + len);
	z->avail_out = size - len - 1;
	assert_int_equal(inflate(z, Z_SYNC_FLUSH), Z_OK);
	assert_int_equal(z->avail_in, 0);
	text[size - 1 - z->avail_out] = '\0';
}

/* A viewer reads the beginning and any of the updates, in one stream. */
static void test_updates(void **state)
{
	struct update *first = update__first(), *updates[3];
	char text[4096] = "", data[300];
	z_stream z = {0};

	memset(data, 'x', sizeof(data));
	updates[0] = update__new("profile", data, sizeof(data));
	updates[1] = update__new("profile", "{}", 2);
	updates[2] = update__new("end", data, 1);
	assert_true(updates[0]->len < 100);
	assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
	read_update(&z, first, text, sizeof(text));
	read_update(&z, updates[1], text, sizeof(text));
	read_update(&z, updates[2], text, sizeof(text));
	assert_string_equal(text, "retry: 1000\n\nevent: profile\ndata: {}\n\n"
				  "event: end\ndata: x\n\n");
	*text = '\0';
	read_update(&z, updates[0], text, sizeof(text));
	assert_int_equal(strlen(text), strlen("event: profile\ndata: \n\n") + sizeof(data));
	inflateEnd(&z);

	assert_ptr_equal(update__use(first), first);
	update__release(first);
	update__release(first);
	for (size_t i = 0; i < 3; i++)
		update__release(updates[i]);
	update__release(NULL);
}

/* main, and below it `cnt` functions of 1 us, 2 us and so on. */
static struct profile *many(uint32_t cnt)
{
	struct profile *p = fixture_new();
	uint32_t t = fixture_thread(p, 7, 8, "server"), node;

	fixture_function(p, "main");
	node = fixture_node(p, t, 0, 0, 1, 1000ull * cnt * cnt, 0);
	for (uint32_t i = 1; i <= cnt; i++) {
		fixture_function(p, "f");
		fixture_node(p, t, node, i, 1, 1000 * i, 1000 * i);
	}
	fixture_finish(p);
	return p;
}

static size_t count_from(const struct profile *p, uint64_t least_ns)
{
	size_t cnt = 0;

	for (size_t i = 1; i < p->nodes_cnt; i++)
		cnt += p->nodes[i].stats.total_ns >= least_ns;
	return cnt;
}

static void test_top_rows(void **state)
{
	struct profile *p = many(3000);
	size_t cnt = count_from(p, document__least_ns(p, 1000));

	assert_int_equal(cnt, 1000);
	assert_int_equal(document__least_ns(p, 3001), 0);
	/* A time that all paths have leaves nothing to choose by. */
	for (size_t i = 1; i < p->nodes_cnt; i++)
		p->nodes[i].stats.total_ns = 5000;
	assert_int_equal(count_from(p, document__least_ns(p, 10)), 3001);
	profile__free(p);
	p = fixture_new();
	assert_int_equal(document__least_ns(p, 10), 0);
	profile__free(p);

	assert_int_equal(document__fit(1000, 0, 50000), 1000);
	assert_int_equal(document__fit(1000, 90000, 50000), 500);
	assert_int_equal(document__fit(1000, 1000, 50000), 1250);
	assert_int_equal(document__fit(5000, 1000, 50000), 5000);
	assert_int_equal(document__fit(60, 90000, 50000), 50);
}

static void test_document(void **state)
{
	struct profile *p = many(3000);
	struct sink_options opts = {0};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(document__write(&p, &opts, 1000, out), 0);
	fclose(out);
	assert_memory_equal(text, "{\"paths\":3001,\"profile\":{\"schema\":1,", 36);
	assert_null(strchr(text, '\n'));
	assert_true(p->nodes_cnt <= 1001);
	free(text);
	profile__free(p);
}

static enum answer judge_scrape(const char *method, const char *path, const char *host,
				const char *origin, bool any_host)
{
	const struct request r = {method, path, host, origin};

	return request__judge_scrape(&r, any_host);
}

/* Metrics: whoever reaches us, but for scripts, and by this machine's names where only it does. */
static void test_metrics(void **state)
{
	assert_int_equal(judge_scrape("GET", "/metrics", "localhost:9464", NULL, false),
			 ANSWER_PAGE);
	assert_int_equal(judge_scrape("HEAD", "/metrics", "127.0.0.1", NULL, false), ANSWER_PAGE);
	assert_int_equal(judge_scrape("GET", "/metrics", "host.example", NULL, true), ANSWER_PAGE);
	assert_int_equal(judge_scrape("GET", "/metrics", NULL, NULL, true), ANSWER_PAGE);
	assert_int_equal(judge_scrape("GET", "/metrics", "host.example", NULL, false),
			 ANSWER_FORBIDDEN);
	assert_int_equal(judge_scrape("GET", "/metrics", NULL, NULL, false), ANSWER_FORBIDDEN);
	assert_int_equal(judge_scrape("GET", "/metrics", "localhost", "http://localhost", true),
			 ANSWER_FORBIDDEN);
	assert_int_equal(judge_scrape("GET", "/", "localhost", NULL, true), ANSWER_NOTHING);
	assert_int_equal(judge_scrape("GET", "/metrics/x", "localhost", NULL, true),
			 ANSWER_NOTHING);
	assert_int_equal(judge_scrape("POST", "/metrics", "localhost", NULL, true),
			 ANSWER_OTHER_METHOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics),	 cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_tokens),	 cmocka_unit_test(test_other_sites),
		cmocka_unit_test(test_names),	 cmocka_unit_test(test_updates),
		cmocka_unit_test(test_top_rows), cmocka_unit_test(test_document),
		cmocka_unit_test(test_wishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
