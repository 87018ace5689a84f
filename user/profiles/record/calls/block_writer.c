// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/calls/block_writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "util/array.h"
#include "util/log.h"

#define LEVEL 3 /* of compression: zstd's own choice */

int block_writer__failed(const struct block_writer *w, int err)
{
	log_error("cannot write %s: %s", w->path,
		  err == -ENXIO ? "nobody reads at its other end" : strerror(-err));
	return err;
}

int block_writer__init(struct block_writer *w, const char *path, int fd)
{
	*w = (struct block_writer){.path = path, .fd = fd};
	w->zstd = ZSTD_createCCtx();
	return w->zstd ? 0 : block_writer__failed(w, -ENOMEM);
}

void block_writer__fini(struct block_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	free(w->packed.data);
}

int block_writer__lock(const struct block_writer *w)
{
	struct stat st;

	if (fstat(w->fd, &st) || !S_ISREG(st.st_mode) || !flock(w->fd, LOCK_EX | LOCK_NB) ||
	    errno != EWOULDBLOCK)
		return 0;
	log_error("cannot write %s: another proftrace is recording to it", w->path);
	return -EBUSY;
}

int block_writer__write(struct block_writer *w, const void *data, size_t len)
{
	const uint8_t *at = data;

	while (len) {
		ssize_t done = write(w->fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return block_writer__failed(w, done ? -errno : -EIO);
		at += done;
		len -= done;
		w->end += done;
	}
	return 0;
}

static int pack_block(struct block_writer *w, enum block_type type, uint8_t flags,
		      const uint8_t *raw, size_t len)
{
	struct bytes *to = &w->packed;
	size_t room = ZSTD_compressBound(len), stored_len;
	struct block_header h = {
		.magic = BLOCK_MAGIC,
		.type = type,
		.flags = flags,
		.raw_len = len,
	};
	uint8_t *stored;

	if (ARRAY_RESERVE_MORE(&to->data, to->len, sizeof(h) + room, &to->cap))
		return block_writer__failed(w, -ENOMEM);
	stored = to->data + to->len + sizeof(h);
	stored_len = ZSTD_compressCCtx(w->zstd, stored, room, raw, len, LEVEL);
	if (ZSTD_isError(stored_len))
		return block_writer__failed(w, -EIO);
	h.stored_len = stored_len;
	h.stored_crc = crc32(0, stored, stored_len);
	h.header_crc = crc32(0, (const uint8_t *)&h, offsetof(struct block_header, header_crc));
	memcpy(stored - sizeof(h), &h, sizeof(h));
	to->len += sizeof(h) + stored_len;
	return 0;
}

int block_writer__pack(struct block_writer *w, enum block_type type, struct bytes *content, int err)
{
	size_t at = 0, len;

	w->packed.len = 0;
	if (err)
		err = block_writer__failed(w, err);
	for (bool more = true; more && !err; at += len) {
		more = content->len - at > BLOCK_RAW_MAX;
		len = more ? BLOCK_RAW_MAX : content->len - at;
		err = pack_block(w, type, more ? BLOCK_MORE : 0, content->data + at, len);
	}
	free(content->data);
	return err;
}

int block_writer__put(struct block_writer *w)
{
	return block_writer__write(w, w->packed.data, w->packed.len);
}
