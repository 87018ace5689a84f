/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_TARGET_VDSO_H
#define PROFTRACE_TARGET_VDSO_H

#define VDSO_NAME "[vdso]" /* of its mapping */

/* A copy of the code that the kernel maps into every process, an ELF file that has no name. Returns
 * a descriptor, -ENOENT (there is none), or another -errno. */
int vdso__open(void);

#endif
