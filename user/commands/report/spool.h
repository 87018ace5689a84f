/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that no one keeps: what shows single calls live goes through one. */
#ifndef PROFTRACE_REPORT_SPOOL_H
#define PROFTRACE_REPORT_SPOOL_H

struct spool {
	int fd;
	char path[32]; /* to open it by, inside of this process */
};

/* A file without a name in $TMPDIR, else /tmp. Returns 0, or -errno with one line logged. */
int spool__open(struct spool *s);
/* If it was there that there was no room, says where that is. */
void spool__explain(const struct spool *s, int err);
void spool__close(struct spool *s); /* of a zeroed one, too */

#endif
