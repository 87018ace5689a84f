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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "calls/profile.h"
#include "cli/options.h"
#include "recording/recorder.h"
#include "util/log.h"

#define PART ".part-" /* and the number of the process that writes it */

struct folder {
	const struct options *o;
	DIR *dir;
	char part[PATH_MAX];
};

static int failed(const struct folder *f, const char *what, int err)
{
	log_error("cannot %s %s: %s", what, f->o->output, strerror(-err));
	return err;
}

/* What nobody writes any more. */
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
	len = snprintf(f->part, sizeof(f->part), "%s/" PART "%d", o->output, getpid());
	if (len >= sizeof(f->part))
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
	if (f && f->dir)
		closedir(f->dir);
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

/* Another run may take the same number at the same time. */
static int give_name(struct folder *f, double start_time)
{
	time_t seconds = start_time;
	char name[64], at[32];
	struct tm tm;
	int fd = dirfd(f->dir), err;

	strftime(at, sizeof(at), "%Y%m%dT%H%M%SZ", gmtime_r(&seconds, &tm));
	do {
		snprintf(name, sizeof(name), "%010lu-%s.data", next_number(f), at);
		err = renameat2(AT_FDCWD, f->part, fd, name, RENAME_NOREPLACE) ? -errno : 0;
	} while (err == -EEXIST);
	if (!err && fsync(fd))
		err = -errno;
	return err;
}

int folder__put(struct folder *f, const struct profile *p)
{
	int err = write_part(f, p);

	if (!err) {
		err = give_name(f, p->start_time);
		if (err)
			failed(f, "put a recording into", err);
	}
	if (err)
		unlink(f->part);
	return err;
}
