// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_WRAPPER 16 /* added to the window's bits: gzip's header and trailer, not zlib's */
#define MEM_LEVEL    8	/* zlib's default */

struct gzip {
	z_stream z;
	FILE *out;
	uint8_t buf[1 << 16];
};

int gzip__open(FILE *out, struct gzip **gz)
{
	struct gzip *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->out = out;
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP_WRAPPER,
			 MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(g);
		return -ENOMEM;
	}
	*gz = g;
	return 0;
}

/* Compresses what z.next_in has, and with Z_FINISH ends the file. */
static void compress_input(struct gzip *g, int flush)
{
	do {
		g->z.next_out = g->buf;
		g->z.avail_out = sizeof(g->buf);
		deflate(&g->z, flush);
		fwrite_unlocked(g->buf, 1, sizeof(g->buf) - g->z.avail_out, g->out);
	} while (!g->z.avail_out && !ferror_unlocked(g->out));
}

void gzip__write(struct gzip *g, const void *data, size_t len)
{
	g->z.next_in = (void *)data;
	while (len) {
		g->z.avail_in = len < UINT_MAX ? len : UINT_MAX;
		len -= g->z.avail_in;
		compress_input(g, Z_NO_FLUSH);
	}
}

void gzip__close(struct gzip *g)
{
	if (!g)
		return;
	compress_input(g, Z_FINISH);
	deflateEnd(&g->z);
	free(g);
}
