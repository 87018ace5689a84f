// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "security/apart.h"
#include "security/fd_message.h"
#include "security/link_map.h"
#include "security/open_rules.h"
#include "security/privilege.h"
#include "util/log.h"

enum request_kind { OPEN = 1, FILE_BELOW, JIT_LIST, PLACE, SOURCE, CODE, TLS_OFFSET };

struct request {
	uint32_t kind; /* enum request_kind */
	uint32_t by_root;
	uint64_t vaddr; /* CODE */
	uint32_t size, pid;
	struct link_map_query library; /* TLS_OFFSET */
	char root[64];
	char path[PATH_MAX]; /* as long as the message is */
};

/* With a descriptor if it is 0; to CODE, how many bytes follow, in the same message. */
struct answer {
	int32_t err;
};

/* To TLS_OFFSET: what link_map__tls_offset() returns. */
struct offset_answer {
	struct answer head;
	int64_t offset;
};

struct code_answer {
	struct answer head;
	char bytes[OPENER_CODE];
};

static struct {
	pid_t pid; /* 0: there is none */
	int socket;
	atomic_bool lost;
	pthread_mutex_t lock; /* planners ask side by side */
} opener = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int obey(const struct request *r)
{
	switch (r->kind) {
	case OPEN:
		return open_rules__open(r->path);
	case FILE_BELOW:
		return open_rules__file(r->root, r->path);
	case JIT_LIST:
		return open_rules__jit_list(r->root, r->path);
	case PLACE:
		return open_rules__place(r->path);
	case SOURCE:
		return open_rules__source(r->path, r->by_root);
	default:
		return -EINVAL;
	}
}

/* False: the other side has gone. */
static bool tell_code(const struct request *r)
{
	static struct code_answer answer;
	const struct fds none = {0};
	size_t size = r->size < sizeof(answer.bytes) ? r->size : sizeof(answer.bytes);
	ssize_t n = open_rules__read_code((pid_t)r->pid, r->vaddr, answer.bytes, size);

	answer.head.err = (int32_t)n;
	return fd_message__send(APART_SOCKET, &answer, sizeof(answer.head) + (n > 0 ? n : 0),
				&none);
}

/* Likewise. */
static bool tell_offset(const struct request *r)
{
	const struct fds none = {0};
	const struct offset_answer answer = {
		.offset = link_map__tls_offset((pid_t)r->pid, &r->library)};

	return fd_message__send(APART_SOCKET, &answer, sizeof(answer), &none);
}

/*
 * Likewise. The limit of open files is one of those that are on the way between all processes of a
 * user as well, so files of others can be what is too many.
 */
static bool tell_file(const struct request *r)
{
	const struct fds none = {0};
	int fd = obey(r);
	struct answer answer = {.err = fd < 0 ? fd : 0};
	struct fds fds = {fd >= 0, {fd}};
	bool sent = fd_message__send(APART_SOCKET, &answer, sizeof(answer), &fds);

	if (!sent && errno == ETOOMANYREFS) {
		answer.err = -EMFILE;
		sent = fd_message__send(APART_SOCKET, &answer, sizeof(answer), &none);
	}
	fds__close(&fds);
	return sent;
}

static _Noreturn void serve(void)
{
	const size_t least = offsetof(struct request, path) + 1;
	struct request request;
	struct fds none;
	size_t len;

	while ((len = fd_message__receive(APART_SOCKET, &request, sizeof(request), &none)) >=
	       least) {
		fds__close(&none);
		((char *)&request)[len - 1] = '\0';
		request.root[sizeof(request.root) - 1] = '\0';
		if (request.kind == CODE) {
			if (!tell_code(&request))
				break;
			continue;
		}
		if (request.kind == TLS_OFFSET) {
			if (!tell_offset(&request))
				break;
			continue;
		}
		if (!tell_file(&request))
			break;
	}
	_exit(0);
}

int opener__start(void)
{
	int ends[2], err = 0;

	if (opener.pid)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		err = -errno;
	} else {
		opener.pid = fork();
		err = opener.pid < 0 ? -errno : 0;
		if (!opener.pid) {
			apart__go(ends[1], "proftrace-files");
			privilege__hurry(true); /* targets may be held while files are opened */
			privilege__drop_for_reading();
			/* A file of FUSE may keep it as long as it likes. */
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve();
		}
		opener.socket = ends[0];
		close(ends[1]);
	}
	if (!err)
		return 0;
	log_error("cannot start the process that opens files: %s", apart__why_not(err));
	opener.pid = 0;
	return err;
}

void opener__stop(void)
{
	if (!opener.pid)
		return;
	close(opener.socket);
	kill(opener.pid, SIGKILL); /* it may wait for a file of FUSE */
	while (waitpid(opener.pid, NULL, 0) < 0 && errno == EINTR)
		;
	opener.pid = 0;
}

/* Whether the path is about another process: whoever needs the opener may not look at these, so it
 * is asked at once. */
static bool is_of_process(const char *path)
{
	return opener.pid && !strncmp(path, "/proc/", 6) && path[6] >= '1' && path[6] <= '9';
}

/* Asks the opener for a file that the caller may not open itself, for the reason `err`. */
static int ask(enum request_kind kind, const char *root, const char *path, bool by_root, int err)
{
	struct request request = {.kind = kind, .by_root = by_root};
	const size_t len = strlen(path) + 1;
	const struct fds none = {0};
	struct answer answer = {0};
	struct fds fds;
	bool sent;

	if (!opener.pid || (err != -EACCES && err != -EPERM))
		return err;
	if (len > sizeof(request.path) || strlen(root) >= sizeof(request.root))
		return -ENAMETOOLONG;
	strcpy(request.root, root);
	memcpy(request.path, path, len);
	pthread_mutex_lock(&opener.lock);
	sent = fd_message__send(opener.socket, &request, offsetof(struct request, path) + len,
				&none) &&
	       fd_message__receive(opener.socket, &answer, sizeof(answer), &fds) == sizeof(answer);
	pthread_mutex_unlock(&opener.lock);
	if (!sent) {
		if (!atomic_exchange(&opener.lost, true))
			log_warn("the process that opens files has been killed: what is loaded "
				 "from now on is not traced");
		return err;
	}
	if (answer.err)
		return answer.err < 0 ? answer.err : err;
	return fds.cnt == 1 ? fds.fd[0] : -EMFILE;
}

int opener__open(const char *path)
{
	int fd;

	if (is_of_process(path))
		return ask(OPEN, "", path, false, -EACCES);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? ask(OPEN, "", path, false, -errno) : fd;
}

FILE *opener__fopen(const char *path)
{
	int fd = opener__open(path);
	FILE *f;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

/* Finds a file below a root folder, without opening it. `resolve`: as for openat2(2). */
static int find_below(const char *root, const char *path, uint64_t resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve,
	};
	int dir, fd, err;

	if (!*root) {
		fd = open(path, O_PATH | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	err = fd < 0 ? -errno : fd;
	close(dir);
	return err;
}

static int open_below(enum request_kind kind, const char *root, const char *path)
{
	int place = find_below(root, path, kind == JIT_LIST ? RESOLVE_NO_SYMLINKS : 0), fd = place;
	struct stat st;
	char link[64];

	if (place >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
		if (fstat(place, &st) || !S_ISREG(st.st_mode))
			fd = -EINVAL;
		else
			fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd == -1)
			fd = -errno;
		close(place);
	}
	return fd < 0 ? ask(kind, root, path, false, fd) : fd;
}

int opener__open_below(const char *root, const char *path)
{
	return open_below(FILE_BELOW, root, path);
}

int opener__open_jit_list(const char *root, const char *path)
{
	return open_below(JIT_LIST, root, path);
}

int opener__stat(const char *path, struct stat *st)
{
	int place, err;

	if (!is_of_process(path) && !stat(path, st))
		return 0;
	place = ask(PLACE, "", path, false, is_of_process(path) ? -EACCES : -errno);
	if (place < 0)
		return place;
	err = fstat(place, st) ? -errno : 0;
	close(place);
	return err;
}

int opener__read_link(const char *path, char *buf, size_t size)
{
	ssize_t len = is_of_process(path) ? -1 : readlink(path, buf, size - 1);
	char link[64];
	int place;

	if (len < 0) {
		place = ask(PLACE, "", path, false, is_of_process(path) ? -EACCES : -errno);
		if (place < 0)
			return place;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
		len = readlink(link, buf, size - 1);
		close(place);
	}
	if (len < 0)
		return -errno;
	buf[len] = '\0';
	return 0;
}

ssize_t opener__read_code(pid_t pid, uint64_t vaddr, void *buf, size_t size)
{
	struct request request = {.kind = CODE, .vaddr = vaddr, .size = size, .pid = pid};
	const struct fds none = {0};
	struct code_answer answer;
	struct fds fds;
	size_t got = 0;

	if (!opener.pid)
		return open_rules__read_code(pid, vaddr, buf, size);
	pthread_mutex_lock(&opener.lock);
	if (fd_message__send(opener.socket, &request, offsetof(struct request, path) + 1, &none))
		got = fd_message__receive(opener.socket, &answer, sizeof(answer), &fds);
	pthread_mutex_unlock(&opener.lock);
	if (got < sizeof(answer.head))
		return -EACCES;
	got -= sizeof(answer.head);
	if (answer.head.err <= 0)
		return answer.head.err;
	memcpy(buf, answer.bytes, got < size ? got : size);
	return got < size ? got : size;
}

int64_t opener__tls_offset(pid_t pid, const struct link_map_query *library)
{
	struct request request = {.kind = TLS_OFFSET, .pid = pid, .library = *library};
	const struct fds none = {0};
	struct offset_answer answer;
	struct fds fds;
	size_t got = 0;

	if (!opener.pid)
		return link_map__tls_offset(pid, library);
	pthread_mutex_lock(&opener.lock);
	if (fd_message__send(opener.socket, &request, offsetof(struct request, path) + 1, &none))
		got = fd_message__receive(opener.socket, &answer, sizeof(answer), &fds);
	pthread_mutex_unlock(&opener.lock);
	return got == sizeof(answer) ? answer.offset : -EACCES;
}

int opener__open_source(const char *path, bool by_root)
{
	int fd = open_rules__source(path, by_root);

	return fd < 0 ? ask(SOURCE, "", path, by_root, fd) : fd;
}
