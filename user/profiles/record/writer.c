// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/calls/block_writer.h"
#include "record/calls/call_block.h"
#include "record/calls/flight.h"
#include "record/calls/gather.h"
#include "record/format/encode.h"
#include "record/format/format.h"
#include "record/keep_old.h"
#include "record/reader.h"
#include "timeline/timeline.h"
#include "util/array.h"
#include "util/io.h"
#include "util/log.h"

#define NAMES_MAX 65536 /* call stacks and paths that may wait */

struct writer {
	struct block_writer out;
	uint64_t keep; /* what the run is to be behind; 0: nothing */
	bool named;    /* the file had a name when the run began */
	bool made;     /* it was not there */
	struct gather calls;
	struct flight *flight; /* NULL: the file may become as large as it will */
	/* Call stacks, paths and waits that calls refer to: they are written before the calls. */
	struct recorded_callstack *callstacks;
	struct recorded_path *paths;
	size_t callstacks_cnt, callstacks_cap, paths_cnt, paths_cap;
	struct recorded_wait *waits;
	size_t waits_cnt, waits_cap;
};

/* Finds the end of the file's last run, where a further one goes. */
static int find_end(struct writer *w)
{
	struct reader *r;
	struct stat st;
	int err;

	if (fstat(w->out.fd, &st))
		return block_writer__failed(&w->out, -errno);
	if (!st.st_size)
		return 0;
	err = reader__open(w->out.path, &r);
	if (err)
		return err;
	w->keep = reader__whole(r);
	err = reader__goes_on(r);
	reader__free(r);
	if (err <= 0)
		return err;
	log_error("%s is damaged in its middle, and --append would drop what is behind: record to "
		  "another file",
		  w->out.path);
	return -EINVAL;
}

int writer__open(const char *path, bool append, struct writer **out)
{
	struct writer *w = calloc(1, sizeof(*w));
	int err, fd;

	if (!w)
		return -ENOMEM;
	/* Nothing waits for the other end of a named pipe to be opened: signals would have to. */
	fd = io__create(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK, &w->made);
	err = fd < 0 ? fd : fcntl(fd, F_SETFL, 0) ? -errno : 0;
	if (block_writer__init(&w->out, path, fd))
		err = -ENOMEM;
	else if (err)
		block_writer__failed(&w->out, err);
	if (!err)
		err = block_writer__lock(&w->out);
	if (!err && append)
		err = find_end(w);
	if (err)
		writer__free(w);
	else
		*out = w;
	return err;
}

void writer__free(struct writer *w)
{
	if (!w)
		return;
	if (w->made && w->out.fd >= 0)
		io__uncreate(w->out.fd, w->out.path);
	block_writer__fini(&w->out);
	gather__fini(&w->calls);
	flight__free(w->flight);
	free(w->callstacks);
	free(w->paths);
	free(w->waits);
	free(w);
}

int writer__limit(struct writer *w, uint64_t max_bytes)
{
	return flight__open(&w->out, max_bytes, &w->flight);
}

/* Takes over `content`, and what became of encoding it. */
static int write_entry(struct writer *w, const struct flight_entry *e, struct bytes *content,
		       int err)
{
	err = block_writer__pack(&w->out, e->type, content, err);
	if (err)
		return err;
	return w->flight ? flight__put(w->flight, &w->out, e) : block_writer__put(&w->out);
}

static int write_content(struct writer *w, enum block_type type, struct bytes *content, int err)
{
	return write_entry(w, &(struct flight_entry){.type = type}, content, err);
}

/* Without it the file would say that it has all calls. */
static int write_gap(struct writer *w)
{
	struct bytes content = {0};
	int err;

	if (!w->flight || !flight__unsaid(w->flight))
		return 0;
	err = encode__forgotten(flight__gap(w->flight), &content);
	return write_content(w, BLOCK_FORGOTTEN, &content, err);
}

int writer__begin(struct writer *w, const struct run_info *f)
{
	struct bytes content = {0};
	struct stat st;
	int err = 0;

	/* A file with a limit is known by its number, and replaced by itself. */
	if (!w->keep && !w->flight)
		keep_old(&w->out);
	if (!fstat(w->out.fd, &st) && S_ISREG(st.st_mode)) {
		w->named = st.st_nlink;
		if (ftruncate(w->out.fd, w->keep) || lseek(w->out.fd, w->keep, SEEK_SET) < 0)
			return block_writer__failed(&w->out, -errno);
	}
	w->out.end = w->keep;
	if (!w->keep)
		err = block_writer__write(&w->out, RECORD_MAGIC, RECORD_MAGIC_LEN);
	if (!err)
		err = block_writer__pack(&w->out, BLOCK_RUN, &content,
					 encode__run_info(f, &content));
	if (!err)
		err = block_writer__put(&w->out);
	if (w->flight)
		flight__fix(w->flight, &w->out);
	return err;
}

int writer__profile(struct writer *w, const struct profile *p)
{
	struct bytes content = {0};
	int err = write_gap(w);

	if (err)
		return err;
	return write_content(w, BLOCK_PROFILE, &content, encode__profile(p, &content));
}

static int write_names(struct writer *w)
{
	struct bytes content = {0};
	int err;

	if ((w->flight && flight__full(w->flight)) || (!w->callstacks_cnt && !w->paths_cnt)) {
		w->callstacks_cnt = w->paths_cnt = 0;
		return 0;
	}
	err = encode__paths(w->callstacks, w->callstacks_cnt, w->paths, w->paths_cnt, &content);
	w->callstacks_cnt = w->paths_cnt = 0;
	return write_content(w, BLOCK_PATHS, &content, err);
}

int writer__callstacks(struct writer *w, const struct recorded_callstack *callstacks, size_t cnt)
{
	if (ARRAY_RESERVE_MORE(&w->callstacks, w->callstacks_cnt, cnt, &w->callstacks_cap))
		return block_writer__failed(&w->out, -ENOMEM);
	for (size_t i = 0; i < cnt; i++)
		w->callstacks[w->callstacks_cnt++] = callstacks[i];
	return w->callstacks_cnt < NAMES_MAX ? 0 : write_names(w);
}

int writer__paths(struct writer *w, const struct recorded_path *paths, size_t cnt)
{
	if (ARRAY_RESERVE_MORE(&w->paths, w->paths_cnt, cnt, &w->paths_cap))
		return block_writer__failed(&w->out, -ENOMEM);
	for (size_t i = 0; i < cnt; i++)
		w->paths[w->paths_cnt++] = paths[i];
	return w->paths_cnt < NAMES_MAX ? 0 : write_names(w);
}

static int write_segments(void *writer, const struct call_segment *segments, size_t cnt)
{
	struct writer *w = writer;
	struct flight_entry e = {.type = BLOCK_CALLS};
	struct bytes content = {0};
	int err = write_names(w);

	for (size_t i = 0; i < cnt; i++) {
		uint64_t end_ns = segments[i].calls[segments[i].cnt - 1].leave_ns;

		e.calls += segments[i].cnt;
		e.until_ns = end_ns > e.until_ns ? end_ns : e.until_ns;
	}
	if (err)
		return err;
	if (w->flight && flight__full(w->flight)) {
		flight__forget(w->flight, e.calls, e.until_ns);
		return 0;
	}
	return write_entry(w, &e, &content, encode__calls(segments, cnt, &content));
}

int writer__calls(struct writer *w, uint32_t callstack, const struct timeline_call *calls,
		  size_t cnt)
{
	int err = 0;

	while (cnt && !err) {
		ssize_t taken = gather__add(&w->calls, callstack, calls, cnt);

		if (taken < 0)
			return block_writer__failed(&w->out, taken);
		calls += taken;
		cnt -= taken;
		if (gather__full(&w->calls, callstack))
			err = gather__write_callstack(&w->calls, callstack, write_segments, w);
		else if (gather__too_many(&w->calls))
			err = gather__write_most(&w->calls, write_segments, w);
	}
	return err;
}

static int write_waits(struct writer *w)
{
	struct flight_entry e = {.type = BLOCK_WAITS};
	struct bytes content = {0};
	size_t cnt = w->waits_cnt;
	int err = cnt ? write_names(w) : 0;

	w->waits_cnt = 0;
	if (err || !cnt || (w->flight && flight__full(w->flight)))
		return err;
	return write_entry(w, &e, &content, encode__waits(w->waits, cnt, &content));
}

int writer__waits(struct writer *w, const struct recorded_wait *waits, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		if (ARRAY_RESERVE(&w->waits, w->waits_cnt, &w->waits_cap))
			return block_writer__failed(&w->out, -ENOMEM);
		w->waits[w->waits_cnt++] = waits[i];
		if (w->waits_cnt == WAIT_BLOCK_WAITS)
			err = write_waits(w);
	}
	return err;
}

int writer__flush(struct writer *w)
{
	int err = gather__write_all(&w->calls, write_segments, w);

	if (!err)
		err = write_waits(w);
	return err ? err : write_names(w);
}

int writer__sync(struct writer *w)
{
	return fsync(w->out.fd) ? block_writer__failed(&w->out, -errno) : 0;
}

uint64_t writer__forgotten(const struct writer *w)
{
	return w->flight ? flight__gap(w->flight)->calls : 0;
}

/* Appends the end to what `to` has by now. */
static int put_end(struct block_writer *to, const struct run_end *e)
{
	struct bytes content = {0};
	int err = block_writer__pack(to, BLOCK_END, &content, encode__end(e, &content));

	if (!err)
		err = block_writer__put(to);
	return !err && fsync(to->fd) ? block_writer__failed(to, -errno) : err;
}

int writer__copy(struct writer *w, const char *path, const struct run_end *e)
{
	struct block_writer to;
	int err = writer__flush(w), fd;

	if (!err)
		err = write_gap(w);
	if (err || !w->flight)
		return err ? err : -EINVAL;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	err = block_writer__init(&to, path, fd);
	if (fd < 0)
		err = block_writer__failed(&to, -errno);
	if (!err)
		err = flight__copy(w->flight, &w->out, &to, 0, w->out.end);
	if (!err)
		err = put_end(&to, e);
	block_writer__fini(&to);
	if (err && fd >= 0)
		unlink(path);
	return err;
}

/* Somebody may have removed it meanwhile, which no write() tells. */
static int check_there(const struct writer *w)
{
	struct stat st;

	if (!w->named || fstat(w->out.fd, &st) || st.st_nlink)
		return 0;
	log_error("%s was removed while it was recorded to: the recording is lost", w->out.path);
	return -ESTALE;
}

int writer__end(struct writer *w, const struct run_end *e)
{
	struct bytes content = {0};
	int err = writer__flush(w);

	if (!err)
		err = write_gap(w);
	if (err)
		return err;
	err = write_content(w, BLOCK_END, &content, encode__end(e, &content));
	return err ? err : check_there(w);
}
