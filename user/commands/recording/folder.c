// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "calls/profile.h"
#include "cli/options.h"
#include "recording/recorder.h"
#include "util/log.h"

/* The name of a file that is being written begins so; the writer's pid follows. */
#define PART ".part-"

#define NAME_SIZE 64 /* of "0000000042-20261124T013600Z.data" */

struct folder {
	const struct options *o;
	DIR *dir;
	char part[PATH_MAX], own[PATH_MAX];
};

static int failed(const struct folder *f, const char *what, int err)
{
	log_error("cannot %s %s: %s", what, f->o->output, strerror(-err));
	return err;
}

/* Removes partial files whose process has ended, or that are this process's own. */
static void remove_parts(struct folder *f)
{
	const struct dirent *entry;

	while ((entry = readdir(f->dir))) {
		pid_t pid;

		if (strncmp(entry->d_name, PART, strlen(PART)))
			continue;
		pid = atoi(entry->d_name + strlen(PART));
		if (pid <= 0 || pid == getpid() || (kill(pid, 0) && errno == ESRCH))
			unlinkat(dirfd(f->dir), entry->d_name, 0);
	}
}

int folder__open(const struct options *o, struct folder **out)
{
	struct folder *f = calloc(1, sizeof(*f));
	size_t len;
	int err = 0;

	if (!f)
		return -ENOMEM;
	f->o = o;
	snprintf(f->part, sizeof(f->part), "%s/" PART "%d", o->output, getpid());
	len = snprintf(f->own, sizeof(f->own), "%s/" PART "%d.flight", o->output, getpid());
	if (len >= sizeof(f->own))
		err = failed(f, "use", -ENAMETOOLONG);
	else if (mkdir(o->output, 0755) && errno != EEXIST)
		err = failed(f, "make", -errno);
	if (!err)
		f->dir = opendir(o->output);
	if (!err && !f->dir)
		err = failed(f, "read", -errno);
	if (!err && faccessat(dirfd(f->dir), ".", W_OK, AT_EACCESS))
		err = failed(f, "write to", -errno);
	if (err) {
		folder__free(f);
		return err;
	}
	remove_parts(f);
	*out = f;
	return 0;
}

void folder__free(struct folder *f)
{
	if (f && f->dir) {
		unlink(f->own);
		closedir(f->dir);
	}
	free(f);
}

static int write_part(struct folder *f, const struct profile *p)
{
	struct recorder *recorder = NULL;
	int err = recorder__open(f->o, f->part, &recorder);

	if (!err)
		err = recorder__begin(recorder, p->start_time);
	if (!err)
		err = recorder__write(recorder, p);
	if (!err)
		err = recorder__end(recorder, "its interval was over");
	if (!err)
		err = recorder__sync(recorder);
	recorder__free(recorder);
	return err;
}

/* The number behind the last one that is there. */
static unsigned long next_number(struct folder *f)
{
	const struct dirent *entry;
	unsigned long last = 0;

	rewinddir(f->dir);
	while ((entry = readdir(f->dir))) {
		unsigned long number = strtoul(entry->d_name, NULL, 10);

		last = number > last ? number : last;
	}
	return last + 1;
}

/* Another run may be at it at the same time: of two recordings with one number, senders, who keep
 * their place by it, would send one alone, or one of them twice. */
static int give_name(struct folder *f, double start_time, char name[NAME_SIZE])
{
	time_t seconds = start_time;
	char at[32];
	struct tm tm;
	int fd = dirfd(f->dir), err;

	strftime(at, sizeof(at), "%Y%m%dT%H%M%SZ", gmtime_r(&seconds, &tm));
	while (flock(fd, LOCK_EX) && errno == EINTR)
		;
	do {
		snprintf(name, NAME_SIZE, "%010lu-%s.data", next_number(f), at);
		err = renameat2(AT_FDCWD, f->part, fd, name, RENAME_NOREPLACE) ? -errno : 0;
	} while (err == -EEXIST);
	flock(fd, LOCK_UN);
	if (!err && fsync(fd))
		err = -errno;
	return err;
}

/* Names the part, or removes it. */
static int finish_part(struct folder *f, double start_time, char name[NAME_SIZE])
{
	int err = give_name(f, start_time, name);

	if (!err)
		return 0;
	unlink(f->part);
	return failed(f, "put a recording into", err);
}

int folder__put(struct folder *f, const struct profile *p)
{
	int err = write_part(f, p);
	char name[NAME_SIZE];

	if (!err)
		return finish_part(f, p->start_time, name);
	unlink(f->part);
	return err;
}

const char *folder__part(const struct folder *f)
{
	return f->part;
}

const char *folder__own(const struct folder *f)
{
	return f->own;
}

int folder__adopt(struct folder *f, double start_time, char **path)
{
	char name[NAME_SIZE];
	int err = finish_part(f, start_time, name);

	if (!err && asprintf(path, "%s/%s", f->o->output, name) < 0)
		err = -ENOMEM;
	return err;
}

/* Whether the name is as give_name() makes them. */
static bool is_recording(const char *name)
{
	const char *dash = name + strspn(name, "0123456789");

	return dash - name == 10 && *dash == '-' && strspn(dash + 1, "0123456789TZ") == 16 &&
	       !strcmp(dash + 17, ".data");
}

/* The name of the oldest one, and how many there are. */
static size_t count_recordings(struct folder *f, char oldest[NAME_SIZE])
{
	const struct dirent *entry;
	size_t cnt = 0;

	rewinddir(f->dir);
	while ((entry = readdir(f->dir))) {
		if (!is_recording(entry->d_name))
			continue;
		if (!cnt++ || strcmp(entry->d_name, oldest) < 0)
			snprintf(oldest, NAME_SIZE, "%.*s", NAME_SIZE - 1, entry->d_name);
	}
	return cnt;
}

void folder__keep(struct folder *f, size_t cnt)
{
	char oldest[NAME_SIZE];

	while (count_recordings(f, oldest) > cnt) {
		if (unlinkat(dirfd(f->dir), oldest, 0))
			return;
		log_debug("%s/%s is removed: more than %zu recordings are there", f->o->output,
			  oldest, cnt);
	}
}
