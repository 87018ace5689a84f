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
#include <zlib.h>
#include <zstd.h>

#include "calls/profile.h"
#include "record/format.h"
#include "util/array.h"
#include "util/log.h"

/* Blocks that belong together. */
struct content {
	uint64_t at;	  /* of the first one's header; 0: there is none */
	uint64_t raw_len; /* of all */
};

struct run {
	struct content facts, profile, end;
};

struct reader {
	const char *path;
	int fd;
	uint64_t size, whole;
	ZSTD_DCtx *zstd;
	uint8_t *stored, *raw;
	struct run *runs;
	size_t runs_cnt, runs_cap;
};

static int cannot_read(const char *path, int err)
{
	log_error("cannot read %s: %s", path, strerror(-err));
	return err;
}

/* Reads `len` bytes. Returns 0, -ENODATA if the file ends before, or -errno. */
static int read_at(const struct reader *r, void *data, size_t len, uint64_t at)
{
	uint8_t *to = data;

	while (len) {
		ssize_t done = pread(r->fd, to, len, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -ENODATA;
		to += done;
		at += done;
		len -= done;
	}
	return 0;
}

static bool header_valid(const struct block_header *h)
{
	return h->magic == BLOCK_MAGIC && h->raw_len <= BLOCK_RAW_MAX &&
	       h->stored_len <= ZSTD_compressBound(BLOCK_RAW_MAX) &&
	       h->header_crc ==
		       crc32(0, (const uint8_t *)h, offsetof(struct block_header, header_crc));
}

/* Reads the block at `at` into r->raw. Returns 0, -ENODATA or -EINVAL if it is not whole, or
 * -errno. */
static int read_block(struct reader *r, uint64_t at, struct block_header *h)
{
	int err = read_at(r, h, sizeof(*h), at);

	if (err)
		return err;
	if (!header_valid(h))
		return -EINVAL;
	err = read_at(r, r->stored, h->stored_len, at + sizeof(*h));
	if (err)
		return err;
	if (crc32(0, r->stored, h->stored_len) != h->stored_crc ||
	    ZSTD_decompressDCtx(r->zstd, r->raw, BLOCK_RAW_MAX, r->stored, h->stored_len) !=
		    h->raw_len)
		return -EINVAL;
	return 0;
}

static uint64_t block_end(uint64_t at, const struct block_header *h)
{
	return at + sizeof(*h) + h->stored_len;
}

/* Where content of this type is noted; NULL: it is not known, or belongs to no run. */
static struct content *place_of(struct reader *r, uint16_t type)
{
	struct run *run = r->runs_cnt ? &r->runs[r->runs_cnt - 1] : NULL;

	switch (type) {
	case BLOCK_RUN:
		if (ARRAY_RESERVE(&r->runs, r->runs_cnt, &r->runs_cap))
			return NULL;
		run = &r->runs[r->runs_cnt++];
		*run = (struct run){0};
		return &run->facts;
	case BLOCK_PROFILE:
		return run ? &run->profile : NULL;
	case BLOCK_END:
		return run ? &run->end : NULL;
	default:
		return NULL;
	}
}

/* Goes through all whole blocks. Returns 0, or why there are no more. */
static int scan(struct reader *r)
{
	struct content open = {0}; /* of which more is to come */
	uint16_t open_type = 0;
	int err = 0;

	while (r->whole < r->size) {
		struct block_header h;
		struct content *place;

		err = read_block(r, r->whole, &h);
		if (err)
			return err;
		if (!open.at || open_type != h.type)
			open = (struct content){.at = r->whole};
		open.raw_len += h.raw_len;
		open_type = h.type;
		r->whole = block_end(r->whole, &h);
		if (h.flags & BLOCK_MORE)
			continue;
		place = place_of(r, h.type);
		if (place)
			*place = open;
		open = (struct content){0};
	}
	return 0;
}

static int check_magic(struct reader *r)
{
	char magic[RECORD_MAGIC_LEN] = "";
	int err = read_at(r, magic, sizeof(magic), 0);

	if (err && err != -ENODATA)
		return cannot_read(r->path, err);
	if (err || memcmp(magic, RECORD_MAGIC, RECORD_MAGIC_LEN - 1)) {
		log_error("%s is no recording of proftrace", r->path);
		return -EINVAL;
	}
	if (magic[RECORD_MAGIC_LEN - 1] == RECORD_MAGIC[RECORD_MAGIC_LEN - 1])
		return 0;
	log_error("%s is of another format (%d) than this proftrace reads (%d)", r->path,
		  magic[RECORD_MAGIC_LEN - 1], RECORD_MAGIC[RECORD_MAGIC_LEN - 1]);
	return -EINVAL;
}

static int read_index(struct reader *r)
{
	int err = check_magic(r);

	if (err)
		return err;
	r->whole = RECORD_MAGIC_LEN;
	err = scan(r);
	if (err && err != -ENODATA && err != -EINVAL)
		return cannot_read(r->path, err);
	if (err)
		log_warn("%s is incomplete: %s after %llu of %llu bytes; what is before is used",
			 r->path, err == -ENODATA ? "it was cut" : "it is damaged",
			 (unsigned long long)r->whole, (unsigned long long)r->size);
	return 0;
}

int reader__open(const char *path, struct reader **out)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct stat st;
	int err;

	if (!r)
		return -ENOMEM;
	r->path = path;
	r->zstd = ZSTD_createDCtx();
	r->stored = malloc(ZSTD_compressBound(BLOCK_RAW_MAX));
	r->raw = malloc(BLOCK_RAW_MAX);
	/* Nothing waits for the other end of a named pipe. */
	r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0 || fstat(r->fd, &st))
		err = cannot_read(path, -errno);
	else if (!r->zstd || !r->stored || !r->raw)
		err = cannot_read(path, -ENOMEM);
	else if (!S_ISREG(st.st_mode))
		err = cannot_read(path, S_ISDIR(st.st_mode) ? -EISDIR : -ESPIPE);
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

void reader__free(struct reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	ZSTD_freeDCtx(r->zstd);
	free(r->stored);
	free(r->raw);
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

/* *out = the content, for the caller to free. The file may have changed since it was gone through.
 */
static int read_content(struct reader *r, const struct content *c, uint8_t **out)
{
	uint8_t *data = malloc(c->raw_len + 1);
	uint64_t at = c->at;
	size_t len = 0;

	if (!data)
		return -ENOMEM;
	while (len < c->raw_len) {
		struct block_header h;
		int err = read_block(r, at, &h);

		if (!err && (!h.raw_len || h.raw_len > c->raw_len - len))
			err = -EINVAL;
		if (err) {
			free(data);
			return err;
		}
		memcpy(data + len, r->raw, h.raw_len);
		len += h.raw_len;
		at = block_end(at, &h);
	}
	*out = data;
	return 0;
}

static int load_facts(struct reader *r, const struct run *run, struct recorded *out)
{
	uint8_t *data = NULL;
	int err = read_content(r, &run->facts, &data);

	if (!err)
		err = decode__facts(data, run->facts.raw_len, &out->memory, &out->facts);
	free(data);
	return err;
}

static int load_end(struct reader *r, const struct run *run, struct recorded *out)
{
	uint8_t *data = NULL;
	int err;

	if (!run->end.at)
		return 0;
	err = read_content(r, &run->end, &data);
	if (!err)
		err = decode__end(data, run->end.raw_len, &out->memory, &out->end);
	if (!err && !out->end.reason)
		err = -EINVAL;
	free(data);
	return err;
}

static int load_profile(struct reader *r, const struct run *run, struct recorded *out)
{
	uint8_t *data = NULL;
	int err = read_content(r, &run->profile, &data);

	if (!err)
		err = decode__profile(data, run->profile.raw_len, &out->memory, &out->profile);
	free(data);
	return err;
}

int reader__load(struct reader *r, size_t run, struct recorded *out)
{
	int err;

	*out = (struct recorded){0};
	if (!r->runs[run].profile.at) {
		log_error("%s: nothing had been written of run %zu when it was cut off", r->path,
			  run + 1);
		return -ENODATA;
	}
	err = load_facts(r, &r->runs[run], out);
	if (!err)
		err = load_end(r, &r->runs[run], out);
	if (!err)
		err = load_profile(r, &r->runs[run], out);
	if (!err)
		return 0;
	log_error("%s: run %zu makes no sense: %s", r->path, run + 1, strerror(-err));
	recorded__free(out);
	return err;
}

void recorded__free(struct recorded *r)
{
	profile__free(r->profile);
	memory__free(&r->memory);
	*r = (struct recorded){0};
}
