/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Content as blocks, and blocks into a file. Inside record/ only. */
#ifndef PROFTRACE_RECORD_CALLS_BLOCK_WRITER_H
#define PROFTRACE_RECORD_CALLS_BLOCK_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "record/format/encode.h"
#include "record/format/format.h"

struct block_writer {
	const char *path; /* borrowed */
	int fd;		  /* -1: none */
	uint64_t end;	  /* of what has been written */
	void *zstd;
	struct bytes packed; /* blocks that are ready to be written */
};

/* All return 0, or -errno with one line logged. */

/* Takes over `fd`. */
int block_writer__init(struct block_writer *w, const char *path, int fd);
void block_writer__fini(struct block_writer *w);

/* Keeps other writers from the file for as long as it is open: -EBUSY if there is one. What is no
 * file, or on a file system without locks, is anybody's. */
int block_writer__lock(const struct block_writer *w);

/* Makes w->packed the blocks that content takes. Takes over `content`, and what became of encoding
 * it. */
int block_writer__pack(struct block_writer *w, enum block_type type, struct bytes *content,
		       int err);

/* Writes it: with a single write(), so that a killed profiler hardly ever leaves half a block. */
int block_writer__put(struct block_writer *w);

int block_writer__write(struct block_writer *w, const void *data, size_t len);
int block_writer__failed(const struct block_writer *w, int err); /* says so and returns err */

#endif
