/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that serves by HTTP: nobody, without privileges, in a sandbox, with two descriptors
 * alone. What it serves is another's: http.c has the page, scrape.c metrics. libmicrohttpd is
 * loaded there alone: it brings TLS with it. Inside serve/ only.
 */
#ifndef PROFTRACE_SERVE_DAEMON_H
#define PROFTRACE_SERVE_DAEMON_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct request;

#define MHD_FUNCTIONS(of)                                                               \
	of(start_daemon) of(run) of(get_timeout) of(get_daemon_info)                    \
		of(create_response_from_buffer) of(create_response_from_callback)       \
			of(add_response_header) of(queue_response) of(destroy_response) \
				of(lookup_connection_value) of(suspend_connection)      \
					of(resume_connection)

#define MHD_DECLARE(name) __typeof__(&MHD_##name) name;
extern struct mhd {
	MHD_FUNCTIONS(MHD_DECLARE)
} mhd;

/* The descriptors that the process has. */
#define DAEMON_CHANNEL	3
#define DAEMON_LISTENER 4

struct daemon {
	struct MHD_Daemon *mhd;
	int epoll; /* readable: there is something to do for MHD_run() */
};

/* Begins the process: it does `serve`, which ends it, with these descriptors. Returns 0 once it
 * asks on the channel, *channel being our end; or -errno, where it has said why. */
int daemon__fork(void (*serve)(const void *ctx), const void *ctx, int listener, pid_t *pid,
		 int *channel);

/* In that process, first of all: becomes nobody, and begins to listen; `what` it is for is said in
 * messages, "--serve". What it cannot do ends it, with one line logged. */
void daemon__begin(struct daemon *d, const char *process, const char *what,
		   MHD_AccessHandlerCallback answer);

/* Enters the sandbox, once all is prepared that needs files. */
void daemon__settle(void);

/* How long to wait for the next thing to do, in ms; -1: until something comes. */
int daemon__wait_ms(const struct daemon *d);

/* Gathers what a request is judged by. */
struct request daemon__request(struct MHD_Connection *c, const char *path, const char *method);

/* An answer of a text that stays, with what browsers are to know of each. NULL: no memory. */
struct MHD_Response *daemon__answer(const char *text, size_t len, const char *type);
void daemon__add_headers(struct MHD_Response *r, const char *type);

#endif
