// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file can only grow at its end, so to forget is to write another, beside it, and to rename it
 * over the first: whoever kills us leaves one of both, whole. The newest half of the calls goes
 * along, so that it takes as many new ones until the next time, and each is copied about once. What
 * else is in the file is copied each time. So it may take three quarters of the file at most; if it
 * takes more, all calls are forgotten, and the file is let grow to twice of what it has to be.
 */
#include "record/calls/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/calls/block_writer.h"
#include "record/calls/call_block.h"
#include "util/array.h"
#include "util/io.h"
#include "util/log.h"

#define COPY_BYTES (256u << 10)
#define GAP_BYTES  128 /* that a block about what was forgotten takes at most */

/* Blocks that were written at once. */
struct entry {
	struct flight_entry what;
	uint64_t at, len;
};

struct flight {
	uint64_t limit;
	uint64_t threshold; /* to be looked at when the file gets larger; as a rule the limit */
	uint64_t fixed;	    /* of the file: what comes first and stays */
	struct entry *entries;
	size_t entries_cnt, entries_cap;
	struct recorded_gap gap;
	bool full, unsaid;
	int dir;
	char *real; /* the file's path, without links, and cut into two */
	char *name, *tmp_name;
	uint8_t *buffer;
};

static int cannot_limit(const struct block_writer *w, const char *why, int err)
{
	log_error("cannot limit the size of %s: %s%s%s", w->path, why, err ? ": " : "",
		  err ? strerror(-err) : "");
	return err ? err : -EINVAL;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* An empty file beside the writer's, with its mode and owner. Returns its descriptor or -errno. The
 * directory may be a stranger's: no link is followed. */
static int open_beside(const struct flight *f, const struct block_writer *w)
{
	struct stat st, made;
	int fd, err = 0;

	unlinkat(f->dir, f->tmp_name, 0);
	if (fstat(w->fd, &st))
		return -errno;
	fd = io__make(f->dir, f->tmp_name, st.st_mode & 0777);
	if (fd < 0)
		return fd;
	if (fstat(fd, &made))
		err = -errno;
	else if ((st.st_uid != made.st_uid || st.st_gid != made.st_gid) &&
		 fchown(fd, st.st_uid, st.st_gid))
		err = -errno;
	if (!err)
		return fd;
	unlinkat(f->dir, f->tmp_name, 0);
	close(fd);
	return err;
}

static int find_names(struct flight *f, const struct block_writer *w)
{
	char *slash;

	f->real = realpath(w->path, NULL);
	if (!f->real)
		return cannot_limit(w, "it is no file that another can take the place of", 0);
	slash = strrchr(f->real, '/');
	f->name = slash + 1;
	if (asprintf(&f->tmp_name, "%s.tmp.%d", f->name, getpid()) < 0) {
		f->tmp_name = NULL;
		return cannot_limit(w, "memory", -ENOMEM);
	}
	f->dir = open(slash == f->real ? "/" : (*slash = '\0', f->real),
		      O_PATH | O_DIRECTORY | O_CLOEXEC);
	return f->dir < 0 ? cannot_limit(w, "its directory", -errno) : 0;
}

/* In place of the descriptor that only writes; and tries what will be done later. */
static int reopen(struct flight *f, struct block_writer *w)
{
	struct stat old, new;
	int beside, fd, err;

	fd = openat(f->dir, f->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return cannot_limit(w, "it has to be read too", -errno);
	if (fstat(w->fd, &old) || fstat(fd, &new) || !same_file(&old, &new) ||
	    !S_ISREG(new.st_mode)) {
		close(fd);
		return cannot_limit(w, "it is no file that another can take the place of", 0);
	}
	close(w->fd); /* with its lock */
	w->fd = fd;
	err = block_writer__lock(w);
	if (err)
		return err;
	beside = open_beside(f, w);
	if (beside < 0)
		return cannot_limit(w, "no other can be made beside it", beside);
	unlinkat(f->dir, f->tmp_name, 0);
	close(beside);
	return 0;
}

int flight__open(struct block_writer *w, uint64_t max_bytes, struct flight **out)
{
	struct flight *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return cannot_limit(w, "memory", -ENOMEM);
	f->dir = -1;
	f->limit = f->threshold = max_bytes;
	f->buffer = malloc(COPY_BYTES);
	err = f->buffer ? find_names(f, w) : cannot_limit(w, "memory", -ENOMEM);
	if (!err)
		err = reopen(f, w);
	if (err)
		flight__free(f);
	else
		*out = f;
	return err;
}

void flight__free(struct flight *f)
{
	if (!f)
		return;
	if (f->dir >= 0)
		close(f->dir);
	free(f->entries);
	free(f->real);
	free(f->tmp_name);
	free(f->buffer);
	free(f);
}

void flight__fix(struct flight *f, const struct block_writer *w)
{
	f->fixed = w->end;
	f->entries_cnt = 0;
}

bool flight__full(const struct flight *f)
{
	return f->full;
}

bool flight__unsaid(const struct flight *f)
{
	return f->unsaid;
}

const struct recorded_gap *flight__gap(const struct flight *f)
{
	return &f->gap;
}

void flight__forget(struct flight *f, uint64_t calls, uint64_t until_ns)
{
	f->gap.calls += calls;
	if (until_ns > f->gap.until_ns)
		f->gap.until_ns = until_ns;
	f->unsaid = true;
}

/* Whether it is of the kind of which the oldest goes. */
static bool ages(enum block_type type)
{
	return type == BLOCK_CALLS || type == BLOCK_WAITS;
}

/* Whether it stays, whatever its age: what calls refer to, and the last profile. Looks no further
 * than to the next profile. */
static bool stays(const struct flight *f, size_t i)
{
	if (f->entries[i].what.type != BLOCK_PROFILE)
		return f->entries[i].what.type == BLOCK_PATHS;
	while (++i < f->entries_cnt) {
		if (f->entries[i].what.type == BLOCK_PROFILE)
			return false;
	}
	return true;
}

/* Bytes that the file has without calls. */
static uint64_t least_size(const struct flight *f)
{
	uint64_t sum = f->fixed + GAP_BYTES;

	for (size_t i = 0; i < f->entries_cnt; i++)
		sum += stays(f, i) ? f->entries[i].len : 0;
	return sum;
}

/* Leaves the entries that are to be kept: of calls the newest, as many as there is room for. */
static void choose(struct flight *f, uint64_t room)
{
	size_t oldest = f->entries_cnt, kept = 0;

	for (; oldest; oldest--) {
		const struct entry *e = &f->entries[oldest - 1];

		if (!ages(e->what.type))
			continue;
		if (e->len > room)
			break;
		room -= e->len;
	}
	for (size_t i = 0; i < f->entries_cnt; i++) {
		const struct entry *e = &f->entries[i];

		if (stays(f, i) || (ages(e->what.type) && i >= oldest))
			f->entries[kept++] = *e;
		else if (ages(e->what.type))
			flight__forget(f, e->what.calls, e->what.until_ns);
	}
	f->entries_cnt = kept;
}

int flight__copy(const struct flight *f, struct block_writer *from, struct block_writer *to,
		 uint64_t at, uint64_t len)
{
	int err = 0;

	while (len && !err) {
		ssize_t got = pread(from->fd, f->buffer, len < COPY_BYTES ? len : COPY_BYTES, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return block_writer__failed(from, got ? -errno : -EIO);
		err = block_writer__write(to, f->buffer, got);
		at += got;
		len -= got;
	}
	return err;
}

/* Writes what is kept, and notes where it is now. */
static int copy_entries(struct flight *f, struct block_writer *from, struct block_writer *to)
{
	struct bytes content = {0};
	int err = flight__copy(f, from, to, 0, f->fixed);

	if (!err && f->gap.calls) {
		int encode_err = encode__forgotten(&f->gap, &content);

		err = block_writer__pack(to, BLOCK_FORGOTTEN, &content, encode_err);
		if (!err)
			err = block_writer__put(to);
	}
	for (size_t i = 0; i < f->entries_cnt && !err; i++) {
		struct entry *e = &f->entries[i];
		uint64_t at = to->end;

		err = flight__copy(f, from, to, e->at, e->len);
		e->at = at;
	}
	return err;
}

static int take_place(const struct flight *f, const struct block_writer *w)
{
	struct stat ours, there;

	if (fstatat(f->dir, f->name, &there, AT_SYMLINK_NOFOLLOW)) {
		int err = -errno;

		log_error("%s, which was recorded to, is not there any more: %s", w->path,
			  strerror(-err));
		return err;
	}
	if (fstat(w->fd, &ours) || !same_file(&ours, &there)) {
		log_error("%s is not the file that was recorded to: it stays as it is", w->path);
		return -ESTALE;
	}
	return renameat(f->dir, f->tmp_name, f->dir, f->name) ? block_writer__failed(w, -errno) : 0;
}

static int rewrite(struct flight *f, struct block_writer *w)
{
	struct block_writer to;
	int fd = open_beside(f, w), err;

	if (fd < 0)
		return block_writer__failed(w, fd);
	err = block_writer__init(&to, w->path, fd);
	if (!err)
		err = block_writer__lock(&to);
	if (!err)
		err = copy_entries(f, w, &to);
	if (!err)
		err = take_place(f, w);
	if (err) {
		unlinkat(f->dir, f->tmp_name, 0);
	} else {
		to.fd = w->fd;
		w->fd = fd;
		w->end = to.end;
		f->unsaid = false;
	}
	block_writer__fini(&to);
	return err;
}

/* Makes room for what is packed. */
static int make_room(struct flight *f, struct block_writer *w, bool calls)
{
	uint64_t len = w->packed.len, least = least_size(f) + (calls ? 0 : len), room;
	int err = 0;

	if (!f->full && least > f->limit - f->limit / 4) {
		f->full = true;
		log_warn("%s: no more single calls are kept: %llu of %llu bytes are taken by what "
			 "else is in it",
			 w->path, (unsigned long long)least, (unsigned long long)f->limit);
	}
	room = f->full ? 0 : f->limit - least;
	if (calls)
		room -= len < room ? len : room;
	if (least < w->end + len) {
		choose(f, room / 2);
		err = rewrite(f, w);
	}
	if (f->full)
		f->threshold = 2 * least > f->limit ? 2 * least : f->limit;
	return err;
}

int flight__put(struct flight *f, struct block_writer *w, const struct flight_entry *e)
{
	bool calls = ages(e->type);
	uint64_t at;
	int err = 0;

	if (w->end + w->packed.len > f->threshold)
		err = make_room(f, w, calls);
	if (!err && calls && (f->full || w->end + w->packed.len > f->limit)) {
		flight__forget(f, e->calls, e->until_ns);
		return 0;
	}
	/* make_room() has written a newer block of this type, in the rewritten file. */
	if (!err && e->type == BLOCK_FORGOTTEN && !f->unsaid)
		return 0;
	at = w->end;
	if (!err && ARRAY_RESERVE(&f->entries, f->entries_cnt, &f->entries_cap))
		err = block_writer__failed(w, -ENOMEM);
	if (!err)
		err = block_writer__put(w);
	if (err)
		return err;
	f->entries[f->entries_cnt++] = (struct entry){*e, at, w->packed.len};
	f->unsaid &= e->type != BLOCK_FORGOTTEN;
	return 0;
}
