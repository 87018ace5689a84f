/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of link_holder.c to the link holder's process, and its answers, over their socket. */
#ifndef PROFTRACE_ATTACH_LINKS_HOLDER_REQUEST_H
#define PROFTRACE_ATTACH_LINKS_HOLDER_REQUEST_H

#include <stdint.h>
#include <sys/types.h>

/*
 * A request is a struct request, with descriptors; more bytes may follow. The answer is an int,
 * -errno or 0 where nothing else is said, with descriptors as well.
 */
enum request_kind {
	/* Make a link. The program's and the file's descriptors go along; offsets and cookies
	 * follow, and semaphores if it has some. Answer: the link's number. */
	LINK = 1,
	CLOSE,	/* a link, in the background */
	HOLD,	/* links that are to be closed wait, */
	GO_ON,	/* and do not any more */
	SETTLE, /* wait until the probes of closed links are out */
	DETACH, /* close all links. Answer: how many stay, as a debugger is at the target */
	/* Load the programs. struct load_spec follows, and a turn's descriptor may go along. The
	 * maps' descriptors come with the answer; struct refusal follows it, with the programs'. */
	LOAD,
	/* Load programs that were left out. Maps' descriptors go along; the programs' come back. */
	LOAD_LATE,
	UNLOAD,	     /* let the programs go. There is no answer */
	TRACEPOINTS, /* put programs at tracepoints, or take them out */
	MAKE_MAP,    /* its descriptor comes with the answer */
	FIND_ASLEEP, /* Answer: how many waits were found; struct refusal follows */
	KEEP,	     /* the file whose descriptor goes along */
	BE_NEAR	     /* struct near follows. There is no answer */
};

struct request {
	int kind; /* enum request_kind */
	int link; /* CLOSE: its number */
	int attach_type, return_probes;
	pid_t pid;
	uint32_t shared;     /* LINK: struct link_spec's */
	uint32_t cnt;	     /* of probes; MAKE_MAP: of entries */
	uint32_t semaphores; /* whether there are some */
	uint32_t basic;	     /* LOAD_LATE: struct late_kind's */
	uint32_t what;	     /* TRACEPOINTS: enum tracepoints; MAKE_MAP: enum loose_map */
};

enum { FD_PROGRAM, FD_OBJECT, LINK_FDS };

#define MAX_COUNT (1u << 20) /* of probes in a link: the kernel's limit */

#endif
