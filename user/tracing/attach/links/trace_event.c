// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/trace_event.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/links/link.h"

/* The usual places of tracefs. */
static const char *const usual[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* The begin of groups' names; behind it the process and its PID namespace:
 * proftrace_1234_4026531836. */
#define GROUP_PREFIX "proftrace_"
#define MAX_NAME     64
#define MAX_LINE     160

struct trace_events {
	int dir;	 /* the trace file system, or -1 */
	int definitions; /* its file uprobe_events; -1: not opened yet */
	int err;	 /* why it cannot be opened, -errno */
	uint32_t last;	 /* number of an event */
	char group[MAX_NAME];
};

/* Definitions that are to be written. */
struct writer {
	int fd;
	size_t len;
	char text[64 << 10];
};

static int writer__flush(struct writer *w)
{
	/* The kernel takes all the lines or says why not. */
	ssize_t n = w->len ? write(w->fd, w->text, w->len) : 0;
	int err = n < 0 ? -errno : (size_t)n < w->len ? -EIO : 0;

	w->len = 0;
	return err;
}

/* The file goes by a descriptor of ours, so that its name may be anything. */
static int write_place(struct writer *w, const char *event, const struct link_spec *spec, size_t i)
{
	char semaphore[32] = "";
	int err = sizeof(w->text) - w->len < MAX_LINE + MAX_NAME ? writer__flush(w) : 0;

	if (err)
		return err;
	if (spec->semaphores && spec->semaphores[i])
		snprintf(semaphore, sizeof(semaphore), "(0x%llx)",
			 (unsigned long long)spec->semaphores[i]);
	w->len += snprintf(w->text + w->len, sizeof(w->text) - w->len,
			   "%c:%s /proc/self/fd/%d:0x%llx%s c=\\0x%llx:x64\n",
			   spec->return_probes ? 'r' : 'p', event, spec->object_fd,
			   (unsigned long long)spec->offsets[i], semaphore,
			   (unsigned long long)spec->cookies[i]);
	return 0;
}

static void remove_definition(int fd, const char *event)
{
	char line[MAX_NAME + 8];
	int len = snprintf(line, sizeof(line), "-:%s\n", event);

	/* A definition that is missing, or still in use, stays as it is. */
	if (write(fd, line, len) < 0)
		return;
}

static int define(int fd, const char *event, const struct link_spec *spec)
{
	struct writer *w = malloc(sizeof(*w));
	int err = w ? 0 : -ENOMEM;

	if (!w)
		return err;
	w->fd = fd;
	w->len = 0;
	for (size_t i = 0; !err && i < spec->cnt; i++)
		err = write_place(w, event, spec, i);
	if (!err)
		err = writer__flush(w);
	free(w);
	return err;
}

/* The number by which perf_event_open() knows the event. */
static int event_id(const struct trace_events *events, const char *event, uint64_t *id)
{
	char path[MAX_NAME + 32], text[32];
	int fd, err = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "events/%s/id", event);
	fd = openat(events->dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		err = -errno;
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	*id = strtoull(text, NULL, 10);
	return err || *id ? err : -EIO;
}

/* For all processes one CPU does: it is the event that has the program, wherever it is hit. */
static int open_perf(uint64_t id, const struct link_spec *spec)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = 1,
		.disabled = 1, /* records are not wanted: the program runs all the same */
	};
	pid_t pid = spec->pid ? spec->pid : -1;
	int cpu = spec->pid ? -1 : sched_getcpu(), fd, err;

	fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!ioctl(fd, PERF_EVENT_IOC_SET_BPF, spec->prog_fd))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static void event_name(const char *group, uint32_t number, char name[MAX_NAME])
{
	snprintf(name, MAX_NAME, "%.40s/e%u", group, number);
}

/* Whether a group's process, if it is of our namespace, still runs. */
static bool group_lives(const char *group, const char *namespace)
{
	char path[64], name[32] = "";
	int pid, end = 0;
	FILE *f;

	if (sscanf(group, GROUP_PREFIX "%9d_%n", &pid, &end) < 1 || !end ||
	    strcmp(group + end, namespace))
		return true;
	if (pid == getpid())
		return false; /* of an earlier process of this number */
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (f && !fgets(name, sizeof(name), f))
		name[0] = '\0';
	if (f)
		fclose(f);
	return !strncmp(name, "proftrace", strlen("proftrace"));
}

static DIR *open_dir(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static void remove_group(const struct trace_events *events, DIR *all, const char *group)
{
	DIR *dir = open_dir(dirfd(all), group);
	const struct dirent *entry;
	char name[MAX_NAME];
	unsigned int number;

	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "e%u", &number) != 1)
			continue;
		event_name(group, number, name);
		remove_definition(events->definitions, name);
	}
	if (dir)
		closedir(dir);
}

/* Takes out what profilers have left that were killed with their keepers. */
static void remove_leftovers(const struct trace_events *events, const char *namespace)
{
	DIR *all = open_dir(events->dir, "events");
	const struct dirent *entry;

	while (all && (entry = readdir(all))) {
		if (!strncmp(entry->d_name, GROUP_PREFIX, strlen(GROUP_PREFIX)) &&
		    !group_lives(entry->d_name, namespace))
			remove_group(events, all, entry->d_name);
	}
	if (all)
		closedir(all);
}

/* Before the first event: opens the file and makes the name of our group. */
static int prepare(struct trace_events *events)
{
	struct stat st = {0};
	char namespace[32];

	if (events->definitions >= 0)
		return 0;
	if (events->dir < 0)
		return events->err;
	events->definitions = openat(events->dir, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (events->definitions < 0)
		return -errno;
	stat("/proc/self/ns/pid", &st);
	snprintf(namespace, sizeof(namespace), "%llu", (unsigned long long)st.st_ino);
	snprintf(events->group, sizeof(events->group), GROUP_PREFIX "%d_%.20s", getpid(),
		 namespace);
	remove_leftovers(events, namespace);
	return 0;
}

int trace_event__open(struct trace_events *events, const struct link_spec *spec, uint32_t *number)
{
	int err = spec->cnt > TRACE_EVENT_MAX_PLACES ? -E2BIG : prepare(events), fd;
	char name[MAX_NAME];
	uint64_t id = 0;

	if (err)
		return err;
	event_name(events->group, ++events->last, name);
	err = define(events->definitions, name, spec);
	if (!err)
		err = event_id(events, name, &id);
	fd = err ? err : open_perf(id, spec);
	if (fd < 0)
		remove_definition(events->definitions, name);
	*number = events->last;
	return fd;
}

void trace_event__remove(const struct trace_events *events, uint32_t number)
{
	char name[MAX_NAME];

	event_name(events->group, number, name);
	remove_definition(events->definitions, name);
}

/* A mount without a place: no process sees it but by our descriptor. */
static int mount_apart(void)
{
	int fs = fsopen("tracefs", FSOPEN_CLOEXEC), dir = -1;

	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		dir = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (dir < 0)
		dir = -errno;
	if (fs >= 0)
		close(fs);
	return dir;
}

int trace_events__new(struct trace_events **out)
{
	struct trace_events *events = calloc(1, sizeof(*events));

	if (!events)
		return -ENOMEM;
	events->dir = events->definitions = -1;
	for (size_t i = 0; events->dir < 0 && i < sizeof(usual) / sizeof(*usual); i++) {
		int dir = open(usual[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (dir >= 0 && !faccessat(dir, "events", F_OK, 0))
			events->dir = dir;
		else if (dir >= 0)
			close(dir);
	}
	if (events->dir < 0)
		events->dir = mount_apart();
	if (events->dir < 0) {
		events->err = events->dir;
		events->dir = -1;
	}
	*out = events;
	return 0;
}

void trace_events__free(struct trace_events *events)
{
	if (!events)
		return;
	if (events->definitions >= 0)
		close(events->definitions);
	if (events->dir >= 0)
		close(events->dir);
	free(events);
}
