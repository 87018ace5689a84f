// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/open_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "security/reach.h"

/* Splits "/proc/12/maps" into the process's folder, "/proc/12", and the rest, "maps". NULL: it is
 * none. */
static const char *split_proc(const char *path, char folder[32])
{
	int end = 0;
	int pid;

	if (sscanf(path, "/proc/%9d/%n", &pid, &end) != 1 || !end || pid <= 0)
		return NULL;
	snprintf(folder, 32, "/proc/%d", pid);
	return path + end;
}

/* "55d0c0a00000-55d0c0b00000" */
static bool is_range(const char *name)
{
	unsigned long from, to;
	int end = 0;

	return sscanf(name, "%lx-%lx%n", &from, &to, &end) == 2 && end && !name[end];
}

static bool is_mapped_file(const char *rest)
{
	static const char folder[] = "map_files/";

	return !strncmp(rest, folder, sizeof(folder) - 1) && is_range(rest + sizeof(folder) - 1);
}

/* The path below a process's root folder, as "usr/bin/redis-server"; "" for that folder itself.
 * NULL: the path does not begin with the root folder. */
static const char *below_root(const char *rest)
{
	if (!strcmp(rest, "root") || !strcmp(rest, "root/."))
		return "";
	return strncmp(rest, "root/", 5) ? NULL : rest + 5;
}

/* Returns a place, or -errno. */
static int find(int folder, const char *path, uint64_t resolve)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = resolve | RESOLVE_NO_MAGICLINKS};
	int place = syscall(SYS_openat2, folder, path, &how, sizeof(how));

	return place < 0 ? -errno : place;
}

/* `resolve`: as for openat2(2). */
static int find_below(const char *root, const char *path, uint64_t resolve)
{
	char folder[32];
	const char *rest;
	int dir, place;

	if (!*root)
		return find(AT_FDCWD, path, 0);
	rest = split_proc(root, folder);
	if (!rest || strcmp(rest, "root"))
		return -EACCES;
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	place = *path ? find(dir, path, RESOLVE_IN_ROOT | resolve) : dir;
	if (place != dir)
		close(dir);
	return place;
}

/* Whether files are what the kernel shows of itself: to open one may already do something, as that
 * of tracefs's free_buffer, which empties the tracer's buffer as it is closed again. */
static bool is_kernels(const struct statfs *fs)
{
	static const uint64_t kinds[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,	     TRACEFS_MAGIC,
					 DEBUGFS_MAGIC,	   SECURITYFS_MAGIC, PSTOREFS_MAGIC,
					 EFIVARFS_MAGIC,   BPF_FS_MAGIC};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if ((uint64_t)fs->f_type == kinds[i])
			return true;
	}
	return false;
}

/* Opens a place for reading if it is a regular file, none of the kernel's. Closes the place. */
static int reopen(int place)
{
	struct statfs fs;
	struct stat st;
	char link[64];
	int fd, err = 0;

	if (place < 0)
		return place;
	if (fstat(place, &st) || fstatfs(place, &fs))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	else if (is_kernels(&fs))
		err = -EACCES;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	fd = err ? err : open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (!err && fd < 0)
		fd = -errno;
	close(place);
	return fd;
}

static bool is_elf(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, "\177ELF", sizeof(magic));
}

/* Lists of containers. */
static bool is_list(const char *path)
{
	static const char *const engines[] = {
		"/var/lib/docker/containers/*/config.v2.json",
		"/var/lib/containers/storage/*-containers/containers.json",
		"/home/*/.local/share/containers/storage/*-containers/containers.json",
		"/var/lib/nerdctl/*/names/*/*",
	};

	if (strstr(path, ".."))
		return false;
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
		if (!fnmatch(engines[i], path, FNM_PATHNAME))
			return true;
	}
	return false;
}

static bool number_of(const char *variable, uint32_t *out)
{
	const char *text = getenv(variable);
	unsigned long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*out = value;
	return !errno && !*end && value < UINT32_MAX;
}

/* A user has called sudo. */
static bool has_caller(void)
{
	return getenv("SUDO_UID") || getenv("SUDO_GID");
}

static int open_as_reader(const char *path)
{
	struct reader r = {0};

	r.known = number_of("SUDO_UID", &r.uid) && number_of("SUDO_GID", &r.gid);
	return reopen(reach__open(&r, path));
}

int open_rules__source(const char *path, bool by_root)
{
	if (!geteuid() && !(by_root && !has_caller()))
		return open_as_reader(path);
	return reopen(find(AT_FDCWD, path, 0));
}

int open_rules__file(const char *root, const char *path)
{
	int fd = reopen(find_below(root, path, 0));

	if (fd < 0 || is_elf(fd) || (!*root && is_list(path)))
		return fd;
	close(fd);
	return *root ? -EACCES : open_as_reader(path);
}

/* The target may have put any file in its list's place by a mount, in a namespace of its own, or by
 * a second name, where users may give one to a file of root's. */
int open_rules__jit_list(const char *root, const char *path)
{
	const uint64_t resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
	struct stat st;
	int dir, place;

	if (!*root || fnmatch("tmp/perf-*.map", path, FNM_PATHNAME))
		return -EACCES;
	dir = find_below(root, "tmp", RESOLVE_NO_SYMLINKS);
	if (dir < 0)
		return dir;
	place = find(dir, path + strlen("tmp/"), resolve);
	close(dir);
	if (place >= 0 && (fstat(place, &st) || st.st_nlink > 1)) {
		close(place);
		return -EACCES;
	}
	return reopen(place);
}

int open_rules__open(const char *path)
{
	static const char *const plain[] = {"maps", "auxv", "pagemap"};
	char folder[32];
	const char *rest = split_proc(path, folder);
	int fd;

	for (size_t i = 0; rest && i < sizeof(plain) / sizeof(*plain); i++) {
		if (strcmp(rest, plain[i]))
			continue;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	if (!rest || (strcmp(rest, "exe") && !is_mapped_file(rest)))
		return open_rules__file("", path);
	fd = open(path, O_PATH | O_CLOEXEC);
	fd = fd < 0 ? -errno : reopen(fd);
	if (fd >= 0 && !is_elf(fd)) {
		close(fd);
		fd = -ENOEXEC;
	}
	return fd;
}

int open_rules__place(const char *path)
{
	char folder[32], root[40];
	const char *rest = split_proc(path, folder), *below = rest ? below_root(rest) : NULL;
	int place;

	if (below) {
		snprintf(root, sizeof(root), "%s/root", folder);
		return find_below(root, below, 0);
	}
	if (!rest || (strcmp(rest, "exe") && !is_mapped_file(rest)))
		return -EACCES;
	place = open(path, O_PATH | O_CLOEXEC);
	return place < 0 ? -errno : place;
}

/* A mapping of code, and its process's memory: the last one that was asked for. */
static struct {
	pid_t pid; /* 0: none */
	int mem;
	uint64_t start, end;
} code;

static void forget_code(void)
{
	if (code.pid)
		close(code.mem);
	code.pid = 0;
}

/* Finds the mapping that has `vaddr`, if it is one of a file, and of code. Returns 0 or -errno. */
static int find_code(pid_t pid, uint64_t vaddr)
{
	char path[64], line[PATH_MAX + 128], execute;
	unsigned long long start, end, inode;
	int err = -EACCES;
	FILE *f;

	forget_code();
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (err && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx %*c%*c%c%*c %*x %*x:%*x %llu", &start, &end, &execute,
			   &inode) == 4 &&
		    vaddr >= start && vaddr < end && execute == 'x' && inode)
			err = 0;
	}
	fclose(f);
	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	code.mem = open(path, O_RDONLY | O_CLOEXEC);
	if (code.mem < 0)
		return -errno;
	code.pid = pid;
	code.start = start;
	code.end = end;
	return 0;
}

ssize_t open_rules__read_code(pid_t pid, uint64_t vaddr, void *buf, size_t size)
{
	ssize_t n = 0;
	int err;

	if (pid <= 0)
		return -EINVAL;
	if (pid == code.pid && vaddr >= code.start && vaddr < code.end)
		n = pread(code.mem, buf, size < code.end - vaddr ? size : code.end - vaddr, vaddr);
	if (n > 0)
		return n;
	/* Nothing was known, or it was of a process that has had the number before. */
	err = find_code(pid, vaddr);
	if (err)
		return err == -ENOENT || err == -ESRCH ? 0 : err;
	n = pread(code.mem, buf, size < code.end - vaddr ? size : code.end - vaddr, vaddr);
	return n < 0 ? -errno : n;
}
