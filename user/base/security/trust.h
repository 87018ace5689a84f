/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose word a file is. */
#ifndef PROFTRACE_SECURITY_TRUST_H
#define PROFTRACE_SECURITY_TRUST_H

#include <stdbool.h>

/*
 * Whether root alone can have written the file behind `fd`: it is a regular one, root's, nobody
 * else may write to it, and it lies on a mount of our own namespace whose set-user-ID bits count,
 * or on a tmpfs. A mount of another namespace, or one that a user has made (FUSE, a plugged-in
 * disk: nosuid), may say of any file that it is root's.
 */
bool trust__is_roots(int fd);

#endif
