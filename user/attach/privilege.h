/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_ATTACH_PRIVILEGE_H
#define PROFTRACE_ATTACH_PRIVILEGE_H

/* Whether we may load programs and look into other users' processes. Returns 0, or -EPERM with one
 * line logged that names the missing capabilities. */
int privilege__check(void);

#endif
