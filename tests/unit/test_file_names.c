// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of files' names, and of what cannot be one. */
#include "fixture.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "tables/file_names.h"
#include "wire.h"

static void expect(const struct wire_file *f, const char *text)
{
	char buf[FILE_NAME_LEN];

	assert_string_equal(file_name__text(f, buf), text);
}

static struct wire_file with_text(uint32_t kind, const char *text, size_t len)
{
	struct wire_file f = {.kind = kind, .len = len};

	memcpy(f.text, text, len);
	return f;
}

static void test_paths(void **state)
{
	static const char parts[] = "app.log\0log\0var";
	struct wire_file f = with_text(WIRE_FILE_PATH, parts, sizeof(parts));

	expect(&f, "/var/log/app.log");
	f.len = 0;
	expect(&f, "/");
	f = with_text(WIRE_FILE_PATH, parts, sizeof(parts));
	f.len = 1u << 30; /* more than there is */
	file_name__text(&f, (char[FILE_NAME_LEN]){0});
	memset(f.text, 'x', sizeof(f.text));
	f.len = sizeof(f.text);
	expect(&f, "/");
}

static void test_connections(void **state)
{
	struct wire_file f = {.kind = WIRE_FILE_PEER,
			      .family = AF_INET,
			      .type = SOCK_STREAM,
			      .port = htons(5432)};

	inet_pton(AF_INET, "10.0.0.1", f.address);
	expect(&f, "tcp 10.0.0.1:5432");
	f.kind = WIRE_FILE_CLIENTS;
	expect(&f, "clients at tcp port 5432");
	f.kind = WIRE_FILE_LISTENING;
	f.type = SOCK_DGRAM;
	expect(&f, "connections to udp port 5432");
	f.kind = WIRE_FILE_PEER;
	f.family = AF_INET6;
	inet_pton(AF_INET6, "fe80::1", f.address);
	expect(&f, "udp [fe80::1]:5432");
	f.family = 77;
	expect(&f, "udp :5432");
}

static void test_others(void **state)
{
	struct wire_file f = with_text(WIRE_FILE_UNIX, "/run/x.sock", 11);

	expect(&f, "unix /run/x.sock");
	f = with_text(WIRE_FILE_UNIX, "\0hidden", 7);
	expect(&f, "unix @hidden");
	f = with_text(WIRE_FILE_NAME, "[eventfd]", 9);
	expect(&f, "eventfd");
	f.kind = WIRE_FILE_PIPE;
	expect(&f, "pipe");
	f.kind = 99;
	expect(&f, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_connections),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
