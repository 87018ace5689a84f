/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds messages of protocol buffers in memory. A message of many parts is best written part by
 * part, as fields may follow each other in any order; only what a part holds has to be known as a
 * whole, as its length comes first.
 */
#ifndef PROFTRACE_UTIL_PROTO_H
#define PROFTRACE_UTIL_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto {
	uint8_t *data;
	size_t len, cap;
	bool failed; /* no memory: from then on nothing is added */
};

/* A field of any integer type but sint and fixed; 0 is written, too. */
void proto_u64(struct proto *m, uint32_t field, uint64_t value);

/* A field of type double. */
void proto_double(struct proto *m, uint32_t field, double value);

/* Fields of type fixed64 or sfixed64, and of type fixed32. */
void proto_fixed64(struct proto *m, uint32_t field, uint64_t value);
void proto_fixed32(struct proto *m, uint32_t field, uint32_t value);

/* Eight bytes each, without their fields: the content of a packed field of type fixed64, or of type
 * double. */
void proto_number64(struct proto *m, uint64_t value);
void proto_number_double(struct proto *m, double value);

/* A field of type bytes. */
void proto_bytes(struct proto *m, uint32_t field, const void *data, size_t len);

/* Numbers without their fields, one behind the other: the content of a packed field. */
void proto_number(struct proto *m, uint64_t value);

/* A field of type bytes that holds an inner message, or a packed field. `inner` is emptied, to be
 * used for the next. */
void proto_message(struct proto *m, uint32_t field, struct proto *inner);

/* All fields of `other`, which keeps them. */
void proto_append(struct proto *m, const struct proto *other);

/* A stranger's text, on one line and in valid UTF-8: see utf8_next_plain(). */
void proto_text(struct proto *m, uint32_t field, const char *text);

void proto_free(struct proto *m);

#endif
