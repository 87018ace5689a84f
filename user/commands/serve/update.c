// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/update.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LEVEL	    6
#define MEM_LEVEL   8	/* zlib's default */
#define FLUSH_BYTES 128 /* what a flush adds, at most */

static const unsigned char gzip_header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};

/* Compresses a piece more behind what there is. */
static bool add(z_stream *z, const void *data, size_t len, int flush)
{
	z->next_in = (void *)data;
	z->avail_in = len;
	return deflate(z, flush) == Z_OK && !z->avail_in && z->avail_out;
}

static struct update *compress_parts(const char *const *texts, const size_t *lens, size_t cnt,
				     bool first)
{
	z_stream z = {0};
	struct update *u = NULL;
	size_t sum = 0, header = first ? sizeof(gzip_header) : 0, room;
	bool ok = true;

	for (size_t i = 0; i < cnt; i++)
		sum += lens[i];
	if (sum > INT_MAX ||
	    deflateInit2(&z, LEVEL, Z_DEFLATED, -MAX_WBITS, MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	room = header + deflateBound(&z, sum) + FLUSH_BYTES;
	u = malloc(sizeof(*u) + room);
	if (u) {
		memcpy(u->bytes, gzip_header, header);
		z.next_out = u->bytes + header;
		z.avail_out = room - header;
		for (size_t i = 0; ok && i < cnt; i++)
			ok = add(&z, texts[i], lens[i], i + 1 < cnt ? Z_NO_FLUSH : Z_FULL_FLUSH);
		u->users = 1;
		u->len = header + z.total_out;
	}
	deflateEnd(&z);
	if (!ok || !u) {
		free(u);
		return NULL;
	}
	return realloc(u, sizeof(*u) + u->len); /* smaller */
}

struct update *update__first(void)
{
	const char *text = "retry: 1000\n\n";
	size_t len = strlen(text);

	return compress_parts(&text, &len, 1, true);
}

struct update *update__new(const char *name, const char *text, size_t len)
{
	char head[64];
	const char *texts[] = {head, text, "\n\n"};
	const size_t lens[] = {
		snprintf(head, sizeof(head), "event: %s\ndata: ", name),
		len,
		2,
	};

	return compress_parts(texts, lens, 3, false);
}

struct update *update__use(struct update *u)
{
	u->users++;
	return u;
}

void update__release(struct update *u)
{
	if (u && !--u->users)
		free(u);
}
