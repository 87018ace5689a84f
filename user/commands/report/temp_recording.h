/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that no one keeps: what shows single calls live goes through one. */
#ifndef PROFTRACE_REPORT_TEMP_RECORDING_H
#define PROFTRACE_REPORT_TEMP_RECORDING_H

struct temp_recording {
	int fd;
	char path[32]; /* to open it by, inside of this process */
};

/* A file without a name in $TMPDIR, else /tmp. Returns 0, or -errno with one line logged. */
int temp_recording__open(struct temp_recording *s);
/* If it was there that there was no room, says where that is. */
void temp_recording__explain(const struct temp_recording *s, int err);
void temp_recording__close(struct temp_recording *s); /* of a zeroed one, too */

#endif
