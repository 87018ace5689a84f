/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How every sink begins and ends its use of the stream. */
#ifndef PROFTRACE_SINK_STREAM_H
#define PROFTRACE_SINK_STREAM_H

#include <errno.h>
#include <stdio.h>

/* From here on errno is that of the stream's first error, which fflush() would not repeat. */
static inline void stream__begin(void)
{
	errno = 0;
}

/* Returns 0, the error that stopped writing (-ENOSPC, -EPIPE, ...), or -EIO if it is unknown. */
static inline int stream__end(FILE *out)
{
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}

#endif
