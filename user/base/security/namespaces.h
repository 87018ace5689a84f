/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether proftrace can look at processes from the namespaces that it is in. */
#ifndef PROFTRACE_SECURITY_NAMESPACES_H
#define PROFTRACE_SECURITY_NAMESPACES_H

/* Not with a /proc that has other numbers for processes than our PID namespace, and not in a user
 * namespace, whose root has no right to trace: before privileges are asked for, as all seem to be
 * there. Returns 0, -EPERM or -ENOTSUP with one line logged. */
int namespaces__check(void);

#endif
