// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * files FOLDER [TIMES [MORE]]: makes system calls that are about files and connections of all
 * kinds, in FOLDER where they have a path; then makes MORE files (none). Prints what each was
 * about, and how often: "FILE write 10 unix /tmp/x/socket".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "target.h"

static const char *folder;
static unsigned long times;

static void fail_if(int failed)
{
	if (failed) {
		perror("files");
		exit(1);
	}
}

/* Writes eight bytes that often. */
TRACED void write_all(int fd, const char *what)
{
	const unsigned long one = 1;

	for (unsigned long i = 0; i < times; i++)
		fail_if(write(fd, &one, sizeof(one)) != sizeof(one));
	printf("FILE write %lu %s\n", times, what);
}

static void use_path(void)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/deep/er/plain.log", folder);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	fail_if(fd < 0);
	printf("FILE openat 1 %s\n", path);
	write_all(fd, path);
	close(fd);
	write_all(open("/dev/null", O_WRONLY), "/dev/null");
	printf("FILE openat 1 /dev/null\n");
}

static void use_unix(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char what[300];

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", folder);
	fail_if(bind(listener, (void *)&at, sizeof(at)) || listen(listener, 1) ||
		connect(fd, (void *)&at, sizeof(at)));
	snprintf(what, sizeof(what), "unix %s", at.sun_path);
	write_all(fd, what);
}

static void use_inet(int family, const char *address)
{
	struct sockaddr_storage at = {.ss_family = family};
	struct sockaddr_in *in = (void *)&at;
	struct sockaddr_in6 *in6 = (void *)&at;
	int listener = socket(family, SOCK_STREAM, 0), fd = socket(family, SOCK_STREAM, 0);
	socklen_t size = family == AF_INET ? sizeof(*in) : sizeof(*in6);
	char what[100];

	inet_pton(family, address, family == AF_INET ? (void *)&in->sin_addr : &in6->sin6_addr);
	fail_if(bind(listener, (void *)&at, size) || listen(listener, 1) ||
		getsockname(listener, (void *)&at, &size) || connect(fd, (void *)&at, size));
	snprintf(what, sizeof(what), family == AF_INET ? "tcp %s:%u" : "tcp [%s]:%u", address,
		 ntohs(in->sin_port));
	write_all(fd, what);
}

static void use_others(void)
{
	int fds[2];

	fail_if(pipe(fds));
	write_all(fds[1], "pipe");
	write_all(eventfd(0, 0), "eventfd");
}

static void make_more(unsigned long more)
{
	char path[256];
	int fd;

	for (unsigned long i = 0; i < more; i++) {
		snprintf(path, sizeof(path), "%s/%lu", folder, i);
		fd = open(path, O_WRONLY | O_CREAT, 0600);
		fail_if(fd < 0);
		close(fd);
	}
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	if (argc < 2)
		return 2;
	folder = argv[1];
	times = target_arg(argc, argv, 2, 10);
	use_path();
	use_unix();
	use_inet(AF_INET, "127.0.0.1");
	use_inet(AF_INET6, "::1");
	use_others();
	make_more(target_arg(argc, argv, 3, 0));
	return 0;
}
