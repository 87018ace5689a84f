/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens files as somebody else would: step by step from our root folder, and every folder on the
 * way, links' too, is asked whether that one may pass. What is checked is what is then opened, so
 * nothing can be exchanged in between. Links of /proc are read as text, thus lead nowhere but
 * below our own root folder: no other namespace's mounts can be reached.
 */
#ifndef PROFTRACE_SECURITY_REACH_H
#define PROFTRACE_SECURITY_REACH_H

#include <stdbool.h>
#include <sys/types.h>

/* Whom we read for. */
struct reader {
	bool known; /* else it is everyone */
	uid_t uid;
	gid_t gid;
};

/* Opens the regular file at the absolute `path` for the reader, as O_PATH. Judges by modes alone:
 * of access control lists it knows the mask, of the reader's groups the first. Returns a
 * descriptor, -EACCES, -EINVAL (no regular file), -ELOOP (many links), or another -errno. */
int reach__open(const struct reader *r, const char *path);

#endif
