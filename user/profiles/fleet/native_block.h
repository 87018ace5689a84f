/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A body as ClickHouse's own clients compress it, which all its versions take: a checksum of 16
 * bytes, which NATIVE_BLOCK_QUERY has it leave unread, the method, two lengths, and zstd's frame.
 * The body is a sixth smaller than one that gzip has made. Inside fleet/ only, and for its tests.
 */
#ifndef PROFTRACE_FLEET_NATIVE_BLOCK_H
#define PROFTRACE_FLEET_NATIVE_BLOCK_H

#include <stddef.h>

struct rows;

/* The part of a request's URL that announces such a body. */
#define NATIVE_BLOCK_QUERY \
	"decompress=1&http_native_compression_disable_checksumming_on_decompress=1"

/* *data: the caller frees it. Returns 0, -ENOMEM, or -EFBIG beyond a GiB. */
int native_block__make(const struct rows *rows, char **data, size_t *len);

#endif
