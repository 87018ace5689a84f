/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs whose arguments have the kernel's types: at tracepoints ("tp_btf/sched_switch") and at
 * iterators ("iter.s/task"). */
#ifndef PROFTRACE_ATTACH_LINKS_TYPED_PROGRAMS_H
#define PROFTRACE_ATTACH_LINKS_TYPED_PROGRAMS_H

/* Has libbpf load them, from the next object on that is opened. Returns 0 or -errno. */
int typed_programs__handle(void);

#endif
