/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that the control group that proftrace is in may have. */
#ifndef PROFTRACE_SECURITY_OWN_MEMORY_H
#define PROFTRACE_SECURITY_OWN_MEMORY_H

/* Warns if that is less than a run needs: the kernel may then end proftrace without a word. */
void own_memory__check(void);

#endif
