// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/daemon.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "security/open_files.h"
#include "security/privilege.h"
#include "security/sandbox.h"
#include "serve/channel.h"
#include "serve/request.h"
#include "util/log.h"

#define LIBRARY	    "libmicrohttpd.so.12"
#define NOBODY	    65534
#define CONNECTIONS 128	       /* others wait until one of these is closed */
#define IDLE_S	    15	       /* a connection on which nothing moves is closed */
#define MEMORY	    (48 << 10) /* of a connection: what it asks, and of what it is sent */

struct mhd mhd;

int daemon__fork(void (*serve)(const void *ctx), const void *ctx, int listener, pid_t *pid,
		 int *channel)
{
	struct channel_ask ask;
	int ends[2], err = 0;
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	*pid = fork();
	if (!*pid) {
		int a = fcntl(ends[1], F_DUPFD_CLOEXEC, 5), b = fcntl(listener, F_DUPFD_CLOEXEC, 5);

		if (dup3(a, DAEMON_CHANNEL, O_CLOEXEC) < 0 ||
		    dup3(b, DAEMON_LISTENER, O_CLOEXEC) < 0)
			_exit(1);
		open_files__close_from(5);
		serve(ctx);
		_exit(0);
	}
	if (*pid < 0)
		err = -errno;
	close(ends[1]);
	*channel = ends[0];
	do
		n = err ? 0 : recv(ends[0], &ask, sizeof(ask), 0);
	while (n < 0 && errno == EINTR);
	return err ? err : n == sizeof(ask) ? 0 : -EPIPE;
}

static bool load(const char *what)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool ok = library;

#define FIND(name) ok = ok && (mhd.name = dlsym(library, "MHD_" #name));
	MHD_FUNCTIONS(FIND)
	if (!ok)
		log_error("%s needs libmicrohttpd: %s", what, dlerror());
	return ok;
}

static void say_nothing(void *ctx, const char *format, va_list args)
{
}

/* Ignores signals meant for the process that has begun this one: it ends us by closing the channel.
 */
static void ignore_signals(void)
{
	static const int signals[] = {SIGHUP,  SIGINT,	SIGQUIT, SIGTERM,
				      SIGPIPE, SIGUSR1, SIGUSR2, SIGWINCH};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_IGN);
}

void daemon__begin(struct daemon *d, const char *process, const char *what,
		   MHD_AccessHandlerCallback answer)
{
	const union MHD_DaemonInfo *info = NULL;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_NAME, process);
	ignore_signals();
	dup2(null, 0);
	dup2(null, 1);
	if (null > 2)
		close(null);
	privilege__become(NOBODY, NOBODY); /* only root can, and need */
	privilege__drop_all();
	if (!load(what))
		_exit(1);
	d->mhd = mhd.start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer, NULL,
		MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL, MHD_OPTION_LISTEN_SOCKET,
		DAEMON_LISTENER, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_END);
	if (d->mhd)
		info = mhd.get_daemon_info(d->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info) {
		log_error("%s: libmicrohttpd does not begin: %s", what, strerror(errno));
		_exit(1);
	}
	d->epoll = info->epoll_fd;
}

void daemon__settle(void)
{
	sandbox__enter(NULL);
}

int daemon__wait_ms(const struct daemon *d)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (mhd.get_timeout(d->mhd, &ms) != MHD_YES)
		return -1;
	return ms > 60000 ? 60000 : (int)ms;
}

struct request daemon__request(struct MHD_Connection *c, const char *path, const char *method)
{
	return (struct request){
		.method = method,
		.path = path,
		.host = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Host"),
		.origin = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Origin"),
	};
}

void daemon__add_headers(struct MHD_Response *r, const char *type)
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

struct MHD_Response *daemon__answer(const char *text, size_t len, const char *type)
{
	struct MHD_Response *r =
		mhd.create_response_from_buffer(len, (void *)text, MHD_RESPMEM_PERSISTENT);

	if (r)
		daemon__add_headers(r, type);
	return r;
}
