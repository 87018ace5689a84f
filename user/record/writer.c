// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "record/encode.h"
#include "record/format.h"
#include "record/reader.h"
#include "util/log.h"

#define LEVEL 3 /* of compression: zstd's own choice */

struct writer {
	const char *path;
	int fd;
	uint64_t end; /* of what is kept; 0: nothing is */
	ZSTD_CCtx *zstd;
	uint8_t *block; /* the header, and room for a frame behind it */
};

static int failed(const struct writer *w, int err)
{
	log_error("cannot write %s: %s", w->path, strerror(-err));
	return err;
}

/* Where a further run goes. */
static int find_end(struct writer *w)
{
	struct reader *r;
	struct stat st;
	int err;

	if (fstat(w->fd, &st))
		return failed(w, -errno);
	if (!st.st_size)
		return 0;
	err = reader__open(w->path, &r);
	if (err)
		return err;
	w->end = reader__whole(r);
	reader__free(r);
	return 0;
}

int writer__open(const char *path, bool append, struct writer **out)
{
	struct writer *w = calloc(1, sizeof(*w));
	int err = 0;

	if (!w)
		return -ENOMEM;
	w->path = path;
	w->zstd = ZSTD_createCCtx();
	w->block = malloc(sizeof(struct block_header) + ZSTD_compressBound(BLOCK_RAW_MAX));
	w->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (w->fd < 0 || !w->zstd || !w->block)
		err = failed(w, w->fd < 0 ? -errno : -ENOMEM);
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
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	free(w->block);
	free(w);
}

static int write_all(const struct writer *w, const void *data, size_t len)
{
	const uint8_t *at = data;

	while (len) {
		ssize_t done = write(w->fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return failed(w, done ? -errno : -EIO);
		at += done;
		len -= done;
	}
	return 0;
}

/* One block with a single write(), so that a killed profiler hardly ever leaves half of one. */
static int write_block(struct writer *w, enum block_type type, uint8_t flags, const uint8_t *raw,
		       size_t len)
{
	uint8_t *stored = w->block + sizeof(struct block_header);
	size_t stored_len = ZSTD_compressCCtx(w->zstd, stored, ZSTD_compressBound(BLOCK_RAW_MAX),
					      raw, len, LEVEL);
	struct block_header h = {
		.magic = BLOCK_MAGIC,
		.type = type,
		.flags = flags,
		.raw_len = len,
	};

	if (ZSTD_isError(stored_len))
		return failed(w, -EIO);
	h.stored_len = stored_len;
	h.stored_crc = crc32(0, stored, stored_len);
	h.header_crc = crc32(0, (const uint8_t *)&h, offsetof(struct block_header, header_crc));
	memcpy(w->block, &h, sizeof(h));
	return write_all(w, w->block, sizeof(h) + stored_len);
}

/* Takes over `content`, and what became of encoding it. */
static int write_content(struct writer *w, enum block_type type, struct bytes *content, int err)
{
	size_t at = 0, len;

	if (err)
		err = failed(w, err);
	for (bool more = true; more && !err; at += len) {
		more = content->len - at > BLOCK_RAW_MAX;
		len = more ? BLOCK_RAW_MAX : content->len - at;
		err = write_block(w, type, more ? BLOCK_MORE : 0, content->data + at, len);
	}
	free(content->data);
	return err;
}

int writer__begin(struct writer *w, const struct run_facts *f)
{
	struct bytes content = {0};
	struct stat st;
	int err = 0;

	if (!fstat(w->fd, &st) && S_ISREG(st.st_mode) &&
	    (ftruncate(w->fd, w->end) || lseek(w->fd, w->end, SEEK_SET) < 0))
		return failed(w, -errno);
	if (!w->end)
		err = write_all(w, RECORD_MAGIC, RECORD_MAGIC_LEN);
	if (err)
		return err;
	return write_content(w, BLOCK_RUN, &content, encode__facts(f, &content));
}

int writer__profile(struct writer *w, const struct profile *p)
{
	struct bytes content = {0};

	return write_content(w, BLOCK_PROFILE, &content, encode__profile(p, &content));
}

int writer__end(struct writer *w, const struct run_end *e)
{
	struct bytes content = {0};

	return write_content(w, BLOCK_END, &content, encode__end(e, &content));
}
