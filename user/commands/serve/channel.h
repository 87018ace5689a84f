/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the run and the process that serves the page. Inside serve/ only. */
#ifndef PROFTRACE_SERVE_CHANNEL_H
#define PROFTRACE_SERVE_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

/* Asks the run for an update; the first one only says that all is ready. */
struct channel_ask {
	uint64_t bytes; /* of the last update, as it is sent to viewers; 0: there was none */
};

/* Hands over a descriptor. Does not wait. Returns 0 or -errno. */
int channel__send_fd(int channel, int fd);

/* Returns a descriptor; -EAGAIN: there is none yet; -EPIPE: the other side has gone. */
int channel__receive_fd(int channel);

#endif
