// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdebuginfod brings an HTTP client, TLS and name services with it. So it is loaded here alone,
 * when all privileges are gone, and proftrace itself neither links to it nor needs it.
 */
#include "elf/debug_fetcher.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/debug_request.h"
#include "security/open_files.h"
#include "security/privilege.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/signals.h"

#define LIBRARY		"libdebuginfod.so.1"
#define DEFAULT_SECONDS 120
#define DEFAULT_STALL	"30"	   /* seconds for the first 100 KB; the library's own are 90 */
#define ANSWER_SECONDS	10	   /* ... for the first byte, unless DEBUGINFOD_TIMEOUT is set */
#define MIN_SIZE	1000	   /* bytes of a file; fewer may be a count of something else */
#define MAX_SIZE	(2l << 30) /* bytes of a file */
#define NOBODYS_CACHE	"/var/cache/proftrace"

struct debuginfod_client;

/* The functions of the library that are used (elfutils/debuginfod.h). */
struct library {
	struct debuginfod_client *(*begin)(void);
	int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *id, int len,
			      char **path);
	void (*set_progressfn)(struct debuginfod_client *client,
			       int (*progress)(struct debuginfod_client *client, long a, long b));
	struct debuginfod_client *client;
	char failure[sizeof(((struct fetch_reply *)NULL)->text)];
};

/* State of the fetch for the library's callback, which has no argument for it. */
static uint64_t began_ns, told_ns;
static bool took_too_long;
/* How long a server has to begin its answer. The library's own time-out counts once there is a
 * connection, and many machines that have servers set by default are offline. */
static uint64_t answer_seconds = ANSWER_SECONDS;

unsigned int debug_fetcher__seconds(void)
{
	const char *text = getenv("DEBUGINFOD_MAXTIME");
	long seconds = text ? strtol(text, NULL, 10) : 0;

	return seconds > 0 && seconds < 86400 ? seconds : DEFAULT_SECONDS;
}

/* Whether nobody waits for an answer any more. A signal at our parent's end would not do: that may
 * have no privilege to send one to another user's process. */
static bool is_alone(void)
{
	struct pollfd fd = {.fd = 3};

	return poll(&fd, 1, 0) > 0 && (fd.revents & POLLHUP);
}

/* Called now and then while something is awaited; other than 0 ends that. */
static int progress(struct debuginfod_client *client, long a, long b)
{
	uint64_t now = now_ns();

	/* End as if killed: after an orderly end the library would note that no server has the
	 * file. */
	if (is_alone())
		_exit(1);
	/* Before anything has come, `a` counts how often we were called. */
	if (now - began_ns > debug_fetcher__seconds() * 1000000000ull ||
	    (a < MIN_SIZE && now - began_ns > answer_seconds * 1000000000ull)) {
		took_too_long = true;
		return 1;
	}
	if (now - told_ns > 1000000000ull) {
		told_ns = now;
		log_debug("debuginfod: %ld of %ld KB", a / 1024, b / 1024);
	}
	return a > MAX_SIZE;
}

static void load(struct library *lib)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (handle) {
		lib->begin = dlsym(handle, "debuginfod_begin");
		lib->find_debuginfo = dlsym(handle, "debuginfod_find_debuginfo");
		lib->set_progressfn = dlsym(handle, "debuginfod_set_progressfn");
	}
	if (lib->begin && lib->find_debuginfo && lib->set_progressfn)
		lib->client = lib->begin();
	if (lib->client)
		lib->set_progressfn(lib->client, progress);
	else
		snprintf(lib->failure, sizeof(lib->failure), "%s", dlerror() ?: LIBRARY " fails");
}

/* Returns a descriptor, or -errno. */
static int find(struct library *lib, const struct fetch_request *request)
{
	int fd;

	if (!lib->client)
		return -ELIBACC;
	took_too_long = false;
	began_ns = told_ns = now_ns();
	fd = lib->find_debuginfo(lib->client, request->id, request->len, NULL);
	return fd < 0 && took_too_long ? -ETIMEDOUT : fd;
}

static bool answer(int socket, int fd, const struct library *lib)
{
	struct fetch_reply reply = {.err = fd < 0 ? -fd : 0};
	struct iovec iov = {&reply, sizeof(reply)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

	memcpy(reply.text, lib->failure, sizeof(reply.text));
	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.bytes);
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof(reply);
}

/* Has the library keep files in the home of the user that we have become; nobody has no home. */
static void choose_cache(const struct passwd *pw, bool is_nobody)
{
	if (is_nobody)
		setenv("DEBUGINFOD_CACHE_PATH", NOBODYS_CACHE, 0);
	else if (pw)
		setenv("HOME", pw->pw_dir, 1);
}

/* The library opens it for whoever it is. Only root comes here. */
static void make_nobodys_cache(uid_t uid, gid_t gid)
{
	if (!mkdir(NOBODYS_CACHE, 0700) && lchown(NOBODYS_CACHE, uid, gid))
		log_warn("debuginfod: cannot use " NOBODYS_CACHE ": %s", strerror(errno));
}

/* Keeps the socket, as descriptor 3, and stderr. */
static void close_others(int socket)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, 0);
	dup2(null, 1);
	dup2(socket, 3);
	open_files__close_from(4);
}

static void set_bounds(void)
{
	const struct rlimit size = {MAX_SIZE, MAX_SIZE};
	const char *timeout = getenv("DEBUGINFOD_TIMEOUT");

	/* A file that grows beyond it is an error, no reason to die. */
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &size);
	if (timeout && atol(timeout) > 0)
		answer_seconds = atol(timeout);
	setenv("DEBUGINFOD_TIMEOUT", DEFAULT_STALL, 0);
}

_Noreturn void debug_fetcher__run(int socket)
{
	struct fetch_request request;
	struct library lib = {0};
	bool is_nobody = false;
	int err;

	prctl(PR_SET_NAME, "proftrace-fetch");
	signals__restore();
	close_others(socket);
	set_bounds();
	if (geteuid() == 0) {
		struct passwd *pw = getpwnam("nobody");
		uid_t nobody = pw ? pw->pw_uid : 65534;
		gid_t nogroup = pw ? pw->pw_gid : 65534;

		err = privilege__become_caller();
		is_nobody = !err && geteuid() == 0;
		if (is_nobody) {
			make_nobodys_cache(nobody, nogroup);
			err = privilege__become(nobody, nogroup);
		}
		if (err)
			_exit(1);
	}
	privilege__drop_all();
	choose_cache(getpwuid(geteuid()), is_nobody);
	/* Only now, as becoming another user takes this setting back. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	load(&lib);
	while (recv(3, &request, sizeof(request), 0) == sizeof(request)) {
		int fd = request.len <= DEBUG_FETCH_MAX_ID ? find(&lib, &request) : -EINVAL;
		bool sent = answer(3, fd, &lib);

		if (fd >= 0)
			close(fd);
		if (!sent)
			break;
	}
	_exit(0);
}
