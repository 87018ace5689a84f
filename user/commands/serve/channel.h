/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the run and the process that serves the page. Inside serve/ only. */
#ifndef PROFTRACE_SERVE_CHANNEL_H
#define PROFTRACE_SERVE_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

enum channel_wish { WISH_UPDATE, WISH_ZOOM, WISH_ZOOM_ALL, WISH_RELEASE, WISHES };

/* Asks the run for an update; the first one only says that all is ready. Or for something else that
 * a viewer wishes: who sends it knows nothing of the run, so any number may be in it. */
struct channel_ask {
	uint64_t bytes;	   /* of the last update, as it is sent to viewers; 0: there was none */
	uint32_t wish;	   /* enum channel_wish */
	uint32_t function; /* WISH_ZOOM, WISH_ZOOM_ALL: by its number in the run's plan */
};

/* Hands over a descriptor. Does not wait. Returns 0 or -errno. */
int channel__send_fd(int channel, int fd);

/* Returns a descriptor; -EAGAIN: there is none yet; -EPIPE: the other side has gone. */
int channel__receive_fd(int channel);

#endif
