/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks out of a file of a stranger. Inside record/ only. */
#ifndef PROFTRACE_RECORD_CALLS_BLOCK_READER_H
#define PROFTRACE_RECORD_CALLS_BLOCK_READER_H

#include <stddef.h>
#include <stdint.h>

#include "record/format/format.h"

struct block_reader {
	const char *path; /* borrowed */
	int fd;		  /* -1: none */
	void *zstd;
	uint8_t *stored;
	uint8_t *raw; /* of the last block: header.raw_len bytes */
};

/* Blocks that belong together. */
struct content {
	uint64_t at;	  /* of the first one's header; 0: there is none */
	uint64_t raw_len; /* of all */
	uint64_t stored_len;
};

/* The limit of memory, in bytes, for content of so many bytes in the file: more than any run needs.
 * Frames of a few bytes can stand for a megabyte of zeros. */
static inline uint64_t content__memory(const struct content *c)
{
	return (16ull << 20) + 256 * c->stored_len;
}

/* Takes over `fd`. Returns 0 or -ENOMEM. */
int block_reader__init(struct block_reader *r, const char *path, int fd);
void block_reader__fini(struct block_reader *r);

/* Says why it cannot be read, and returns err. */
int block_reader__failed(const struct block_reader *r, int err);

/* Reads `len` bytes. Returns 0, -ENODATA if the file ends before, or -errno. */
int block_reader__bytes(const struct block_reader *r, void *data, size_t len, uint64_t at);

/* Reads the block at `at` into r->raw. Returns 0, -ENODATA or -EINVAL if it is not whole, or
 * -errno. */
int block_reader__read(struct block_reader *r, uint64_t at, struct block_header *h);

/* Looks for the header of a block at `at` or behind. Returns 1 if there is one, 0, or -errno. Time:
 * linear in what is behind. */
int block_reader__find(const struct block_reader *r, uint64_t at);

/* *out = the content, for the caller to free. The file may have changed since it was gone through.
 * Returns 0 or -errno. */
int block_reader__content(struct block_reader *r, const struct content *c, uint8_t **out);

static inline uint64_t block_end(uint64_t at, const struct block_header *h)
{
	return at + sizeof(*h) + h->stored_len;
}

#endif
