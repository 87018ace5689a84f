// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening goes through all blocks and notes where each run has its facts, its last whole profile,
 * and its end; what they say is read when it is asked for. Nothing is mapped: a file that somebody
 * cuts meanwhile would kill us.
 */
#include "record/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls/profile.h"
#include "record/calls/block_reader.h"
#include "record/calls/call_block.h"
#include "record/calls/call_index.h"
#include "record/calls/file_timeline.h"
#include "record/calls/match.h"
#include "record/format/format.h"
#include "timeline/timeline.h"
#include "timeline/waits.h"
#include "util/array.h"
#include "util/log.h"

struct run {
	struct content run_info, profile, end;
	struct call_index calls;
	int calls_err; /* they make no sense, or memory was short */
};

struct reader {
	struct block_reader in;
	uint64_t size, whole;
	bool damaged; /* behind `whole`, and not cut there */
	struct run *runs;
	size_t runs_cnt, runs_cap;
};

/* A bound to what is noted of small things in the file, each of which takes memory: compressed,
 * they can be next to nothing. */
static uint64_t indexed_max(const struct reader *r)
{
	return r->size + (1u << 20);
}

/* Where content of this type is noted; NULL: the type is not known, or belongs to no run. */
static struct content *place_of(struct reader *r, uint16_t type)
{
	struct run *run = r->runs_cnt ? &r->runs[r->runs_cnt - 1] : NULL;

	switch (type) {
	case BLOCK_RUN:
		if (ARRAY_RESERVE(&r->runs, r->runs_cnt, &r->runs_cap))
			return NULL;
		run = &r->runs[r->runs_cnt++];
		*run = (struct run){0};
		return &run->run_info;
	case BLOCK_PROFILE:
		return run ? &run->profile : NULL;
	case BLOCK_END:
		return run ? &run->end : NULL;
	case BLOCK_PATHS:
		return run ? call_index__add_names(&run->calls) : NULL;
	case BLOCK_WAITS:
		return run ? call_index__add_waits(&run->calls) : NULL;
	case BLOCK_FORGOTTEN:
		return run ? &run->calls.forgotten : NULL;
	default:
		return NULL;
	}
}

/* Indexes the block that was read last. The index takes memory, so it may not become much larger
 * than the file. */
static void index_calls(struct reader *r, uint64_t at, const struct block_header *h, bool single)
{
	struct run *run = r->runs_cnt ? &r->runs[r->runs_cnt - 1] : NULL;

	if (run && !run->calls_err)
		run->calls_err = single ? call_index__add(&run->calls, at, r->in.raw, h->raw_len,
							  indexed_max(r))
					: -EINVAL;
}

/* Goes through all whole blocks. Returns 0, or why there are no more. */
static int scan(struct reader *r)
{
	struct content open = {0}; /* of which more is to come */
	uint16_t open_type = 0;
	int err = 0;

	while (r->whole < r->size) {
		uint64_t at = r->whole;
		struct block_header h;
		struct content *place;

		err = block_reader__read(&r->in, at, &h);
		if (err)
			return err;
		if (!open.at || open_type != h.type)
			open = (struct content){.at = at};
		open.raw_len += h.raw_len;
		open.stored_len += h.stored_len;
		open_type = h.type;
		r->whole = block_end(at, &h);
		if (h.flags & BLOCK_MORE)
			continue;
		place = place_of(r, h.type);
		if (place)
			*place = open;
		if (h.type == BLOCK_CALLS)
			index_calls(r, at, &h, open.at == at);
		open = (struct content){0};
	}
	return 0;
}

static int check_magic(struct reader *r)
{
	const unsigned int ours = (uint8_t)RECORD_MAGIC[RECORD_MAGIC_LEN - 1];
	char magic[RECORD_MAGIC_LEN] = "";
	unsigned int theirs;
	int err = block_reader__bytes(&r->in, magic, sizeof(magic), 0);

	if (err && err != -ENODATA)
		return block_reader__failed(&r->in, err);
	if (err || memcmp(magic, RECORD_MAGIC, RECORD_MAGIC_LEN - 1)) {
		log_error("%s is %s", r->in.path,
			  r->size ? "no recording of proftrace" : "empty: nothing was recorded");
		return -EINVAL;
	}
	theirs = (uint8_t)magic[RECORD_MAGIC_LEN - 1];
	if (theirs == ours)
		return 0;
	log_error("%s is of %s format (%u) than this proftrace reads (%u)", r->in.path,
		  theirs > ours ? "a newer" : "another", theirs, ours);
	return -EINVAL;
}

static int read_index(struct reader *r)
{
	int err = check_magic(r);

	if (err)
		return err;
	r->whole = RECORD_MAGIC_LEN;
	err = scan(r);
	r->damaged = err == -EINVAL;
	if (err && err != -ENODATA && err != -EINVAL)
		return block_reader__failed(&r->in, err);
	if (err)
		log_warn("%s is incomplete: %s after %llu of %llu bytes; what is before is used",
			 r->in.path, err == -ENODATA ? "it was cut" : "it is damaged",
			 (unsigned long long)r->whole, (unsigned long long)r->size);
	return 0;
}

int reader__goes_on(const struct reader *r)
{
	int found = r->damaged ? block_reader__find(&r->in, r->whole + 1) : 0;

	return found < 0 ? block_reader__failed(&r->in, found) : found;
}

int reader__open_file(int fd, const char *path, struct reader **out)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct stat st;
	int err;

	if (!r) {
		close(fd);
		return -ENOMEM;
	}
	err = block_reader__init(&r->in, path, fd);
	if (err)
		err = block_reader__failed(&r->in, err);
	else if (fstat(fd, &st))
		err = block_reader__failed(&r->in, -errno);
	else if (!S_ISREG(st.st_mode))
		err = block_reader__failed(&r->in, S_ISDIR(st.st_mode) ? -EISDIR : -ESPIPE);
	else {
		r->size = st.st_size;
		err = read_index(r);
	}
	if (err)
		reader__free(r);
	else
		*out = r;
	return err;
}

int reader__open(const char *path, struct reader **out)
{
	/* Nothing waits for the other end of a named pipe. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = -errno;

	if (fd >= 0)
		return reader__open_file(fd, path, out);
	log_error("cannot read %s: %s", path, strerror(-err));
	return err;
}

void reader__free(struct reader *r)
{
	if (!r)
		return;
	block_reader__fini(&r->in);
	for (size_t i = 0; i < r->runs_cnt; i++)
		call_index__fini(&r->runs[i].calls);
	free(r->runs);
	free(r);
}

uint64_t reader__whole(const struct reader *r)
{
	return r->whole;
}

size_t reader__runs(const struct reader *r)
{
	return r->runs_cnt;
}

static int decode_run_info(const uint8_t *data, size_t len, struct recorded *out)
{
	return decode__run_info(data, len, &out->memory, &out->run_info);
}

static int decode_end(const uint8_t *data, size_t len, struct recorded *out)
{
	int err = decode__end(data, len, &out->memory, &out->end);

	return !err && !out->end.reason ? -EINVAL : err;
}

static int decode_profile(const uint8_t *data, size_t len, struct recorded *out)
{
	return decode__profile(data, len, &out->memory, &out->profile);
}

/* Reads a block of the run's into its part of `out`. */
static int load_block(struct reader *r, const struct content *c, struct recorded *out,
		      int (*decode)(const uint8_t *data, size_t len, struct recorded *out))
{
	uint8_t *data = NULL;
	int err = block_reader__content(&r->in, c, &data);

	out->memory.room = content__memory(c);
	if (!err)
		err = decode(data, c->raw_len, out);
	free(data);
	return err;
}

static int append_names(struct names *n, const uint8_t *data, size_t len, uint64_t max)
{
	struct recorded_callstack *callstacks;
	struct recorded_path *paths;
	size_t callstacks_cnt, paths_cnt;
	int err = decode__paths(data, len, &callstacks, &callstacks_cnt, &paths, &paths_cnt);

	if (err)
		return err;
	if (n->callstacks_cnt + callstacks_cnt > max || n->paths_cnt + paths_cnt > max) {
		err = -EINVAL;
	} else if (ARRAY_RESERVE_MORE(&n->callstacks, n->callstacks_cnt, callstacks_cnt,
				      &n->callstacks_cap) ||
		   ARRAY_RESERVE_MORE(&n->paths, n->paths_cnt, paths_cnt, &n->paths_cap)) {
		err = -ENOMEM;
	} else {
		for (size_t i = 0; i < callstacks_cnt; i++)
			n->callstacks[n->callstacks_cnt++] = callstacks[i];
		for (size_t i = 0; i < paths_cnt; i++)
			n->paths[n->paths_cnt++] = paths[i];
	}
	free(callstacks);
	free(paths);
	return err;
}

static int load_names(struct reader *r, const struct call_index *x, struct names *n)
{
	int err = 0;

	for (size_t i = 0; i < x->names_cnt && !err; i++) {
		uint8_t *data = NULL;

		err = block_reader__content(&r->in, &x->names[i], &data);
		if (!err)
			err = append_names(n, data, x->names[i].raw_len, indexed_max(r));
		free(data);
	}
	return err;
}

static int load_gap(struct reader *r, const struct content *c, struct recorded_gap *gap)
{
	uint8_t *data = NULL;
	int err;

	if (!c->at)
		return 0;
	err = block_reader__content(&r->in, c, &data);
	if (!err)
		err = decode__forgotten(data, c->raw_len, gap);
	free(data);
	return err;
}

/* Adds a block's waits. What it says of call stacks and paths may be nonsense. */
static int append_waits(struct reader *r, const struct content *c, const struct match *m,
			struct recorded *out)
{
	struct recorded_wait *waits;
	uint8_t *data = NULL;
	size_t cnt;
	int err = block_reader__content(&r->in, c, &data);

	out->memory.room = content__memory(c);
	if (!err)
		err = decode__waits(data, c->raw_len, &out->memory, &waits, &cnt);
	free(data);
	if (err)
		return err;
	for (size_t i = 0; i < cnt && !err; i++) {
		uint32_t callstack = waits[i].at.callstack;
		bool known = callstack && callstack <= m->callstacks_cnt;

		err = waits__add(out->profile->waits, &waits[i],
				 known ? m->threads[callstack] + 1 : 0);
	}
	free(waits);
	return err;
}

static int load_waits(struct reader *r, const struct call_index *x, const struct names *n,
		      const struct match *m, struct recorded *out)
{
	int err = 0;

	if (!x->waits_cnt)
		return 0;
	out->profile->waits = calloc(1, sizeof(*out->profile->waits));
	if (!out->profile->waits)
		return -ENOMEM;
	for (size_t i = 0; i < x->waits_cnt && !err; i++)
		err = append_waits(r, &x->waits[i], m, out);
	if (!err)
		err = waits__settle(out->profile->waits, n->paths, n->paths_cnt);
	if (!err && out->profile->waits->left_out)
		log_warn("%s: there is no room for %llu of the waits", r->in.path,
			 (unsigned long long)out->profile->waits->left_out);
	return err;
}

static int load_timeline(struct reader *r, const struct run *run, struct recorded *out)
{
	const struct call_index *x = &run->calls;
	struct profile *p = out->profile;
	struct names names = {0};
	struct match match;
	int err = run->calls_err;

	if (!err && !x->names_cnt && !x->blocks_cnt && !x->forgotten.at &&
	    !p->accounting.timeline_calls && !p->accounting.timeline_lost)
		return 0;
	if (!err)
		err = load_gap(r, &x->forgotten, &out->forgotten);
	if (!err)
		err = load_names(r, x, &names);
	if (!err)
		err = match__names(&names, p, &match);
	if (!err) {
		err = load_waits(r, x, &names, &match, out);
		if (err)
			match__fini(&match);
	}
	if (!err) {
		err = file_timeline__open(&r->in, x, &match, p->threads_cnt, &p->timeline);
		if (err)
			match__fini(&match);
	}
	free(names.callstacks);
	free(names.paths);
	if (err)
		return err;
	p->timeline->lost += p->accounting.timeline_lost;
	out->calls = x->calls;
	p->calls_forgotten = out->forgotten.calls < p->accounting.timeline_calls
				     ? out->forgotten.calls
				     : p->accounting.timeline_calls;
	return 0;
}

int reader__load(struct reader *r, size_t run, struct recorded *out)
{
	int err;

	*out = (struct recorded){0};
	if (!r->runs[run].profile.at) {
		log_error("%s: nothing had been written of run %zu when it was cut off", r->in.path,
			  run + 1);
		return -ENODATA;
	}
	err = load_block(r, &r->runs[run].run_info, out, decode_run_info);
	if (!err && r->runs[run].end.at)
		err = load_block(r, &r->runs[run].end, out, decode_end);
	if (!err)
		err = load_block(r, &r->runs[run].profile, out, decode_profile);
	if (!err)
		err = load_timeline(r, &r->runs[run], out);
	if (!err)
		return 0;
	log_error("%s: run %zu makes no sense: %s", r->in.path, run + 1, strerror(-err));
	recorded__free(out);
	return err;
}

void recorded__free(struct recorded *r)
{
	profile__free(r->profile);
	memory__free(&r->memory);
	*r = (struct recorded){0};
}
