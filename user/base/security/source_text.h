/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source files, by lines. Their names come from debug information, thus from a stranger: as root
 * only what everyone may read is read, or what the user may who has called sudo (SUDO_UID): see
 * reach.h; and only regular files of a size that source has. Without sudo root has called us for
 * itself: then it may see all that root alone has named.
 */
#ifndef PROFTRACE_SECURITY_SOURCE_TEXT_H
#define PROFTRACE_SECURITY_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_text;

/* Reads the file at `path`, which must be absolute; `by_root`: nobody else can have named it.
 * Returns 0, -EACCES (not for us to show), -EFBIG, -EINVAL (no regular file, or no absolute path),
 * -errno; logs nothing. */
int source_text__open(const char *path, bool by_root, struct source_text **out);
void source_text__free(struct source_text *t); /* accepts NULL */

uint32_t source_text__lines(const struct source_text *t);

/* Line `number`, from 1 on, without its end, cut to `size`, with blanks for tabs; "" if there is
 * none. Returns buf. */
char *source_text__line(const struct source_text *t, uint32_t number, char *buf, size_t size);

#endif
