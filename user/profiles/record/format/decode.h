/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes the content of blocks. It comes from strangers: every count, length and index is
 * checked, so that what is returned holds what other stages rely on. Inside record/ only, and for
 * its tests.
 */
#ifndef PROFTRACE_RECORD_FORMAT_DECODE_H
#define PROFTRACE_RECORD_FORMAT_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "record/format/memory.h"

struct profile;
struct run_end;
struct run_info;

/*
 * Each returns 0, -EINVAL (the content makes no sense), -EFBIG (its rows take more than m->room) or
 * -ENOMEM. Strings are borrowed from `m`; NULL where there is none. Memory is in proportion to
 * `len`, and rows take it from m->room. The caller frees *out with
 * profile__free(); it is linked, not summarized.
 */
int decode__run_info(const uint8_t *data, size_t len, struct memory *m, struct run_info *f);
int decode__end(const uint8_t *data, size_t len, struct memory *m, struct run_end *e);
int decode__profile(const uint8_t *data, size_t len, struct memory *m, struct profile **out);

#endif
