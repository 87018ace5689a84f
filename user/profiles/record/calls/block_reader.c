// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/calls/block_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "util/log.h"

int block_reader__init(struct block_reader *r, const char *path, int fd)
{
	*r = (struct block_reader){.path = path, .fd = fd};
	r->zstd = ZSTD_createDCtx();
	r->stored = malloc(ZSTD_compressBound(BLOCK_RAW_MAX));
	r->raw = malloc(BLOCK_RAW_MAX);
	return r->zstd && r->stored && r->raw ? 0 : -ENOMEM;
}

void block_reader__fini(struct block_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	ZSTD_freeDCtx(r->zstd);
	free(r->stored);
	free(r->raw);
}

int block_reader__failed(const struct block_reader *r, int err)
{
	log_error("cannot read %s: %s", r->path, strerror(-err));
	return err;
}

int block_reader__bytes(const struct block_reader *r, void *data, size_t len, uint64_t at)
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

#define CONTENT_MAX (1ull << 30) /* bytes: of ten million paths; a small file may claim more */

static bool header_valid(const struct block_header *h)
{
	return h->magic == BLOCK_MAGIC && h->raw_len <= BLOCK_RAW_MAX &&
	       h->stored_len <= ZSTD_compressBound(BLOCK_RAW_MAX) &&
	       h->header_crc ==
		       crc32(0, (const uint8_t *)h, offsetof(struct block_header, header_crc));
}

int block_reader__read(struct block_reader *r, uint64_t at, struct block_header *h)
{
	int err = block_reader__bytes(r, h, sizeof(*h), at);

	if (err)
		return err;
	if (!header_valid(h))
		return -EINVAL;
	err = block_reader__bytes(r, r->stored, h->stored_len, at + sizeof(*h));
	if (err)
		return err;
	if (crc32(0, r->stored, h->stored_len) != h->stored_crc ||
	    ZSTD_decompressDCtx(r->zstd, r->raw, BLOCK_RAW_MAX, r->stored, h->stored_len) !=
		    h->raw_len)
		return -EINVAL;
	return 0;
}

int block_reader__find(const struct block_reader *r, uint64_t at)
{
	uint8_t window[1 << 14];
	struct block_header h;
	ssize_t got;

	while ((got = pread(r->fd, window, sizeof(window), at)) >= (ssize_t)sizeof(h)) {
		size_t i;

		for (i = 0; i + sizeof(h) <= (size_t)got; i++) {
			memcpy(&h, window + i, sizeof(h));
			if (header_valid(&h))
				return 1;
		}
		at += i;
	}
	return got < 0 ? -errno : 0;
}

int block_reader__content(struct block_reader *r, const struct content *c, uint8_t **out)
{
	uint8_t *data;
	uint64_t at = c->at;
	size_t len = 0;

	if (c->raw_len > CONTENT_MAX || c->raw_len > content__memory(c))
		return -EFBIG;
	data = malloc(c->raw_len + 1);
	if (!data)
		return -ENOMEM;
	while (len < c->raw_len) {
		struct block_header h;
		int err = block_reader__read(r, at, &h);

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
