/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Single waits of a run, which lie beside its single calls: who was off the CPU, when, why, and who
 * has ended it. Plain data; times are ns since the profile's start.
 */
#ifndef PROFTRACE_TIMELINE_WAITS_H
#define PROFTRACE_TIMELINE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "timeline/stream.h"

/* Why a thread did not run. The numbers are in files. */
enum wait_reason {
	WAIT_OTHER,
	WAIT_LOCK,
	WAIT_CPU, /* it could have run on, but others did */
	WAIT_DISK,
	WAIT_NETWORK,
	WAIT_PIPE,
	WAIT_DEVICE,
	WAIT_TIMER,
	WAIT_POLL,
	WAIT_CHILD,
	WAIT_STOPPED,
	WAIT_REASONS,
};

/* The reason's name in JSON: "lock", "cpu". */
const char *wait_reason__word(uint32_t reason);

/* The kind of an object. The numbers are in files. */
enum wait_object {
	WAIT_OBJECT_NONE,
	WAIT_OBJECT_LOCK,  /* an address */
	WAIT_OBJECT_FILE,  /* a descriptor */
	WAIT_OBJECT_PEER,  /* port << 32 | IPv4 address, both as the network has them */
	WAIT_OBJECT_FUTEX, /* an address: a condition variable, a semaphore, perhaps a lock */
	/* The address of a pthread_rwlock_t of glibc's, which a thread waits to read or to write:
	 * see timeline/rwlocks.h. */
	WAIT_OBJECT_READ,
	WAIT_OBJECT_WRITE,
	WAIT_OBJECTS,
};

/* Whether it is the address of a futex, of whatever kind. */
static inline bool wait_object__is_futex(uint32_t kind)
{
	return kind == WAIT_OBJECT_LOCK || kind == WAIT_OBJECT_FUTEX || kind == WAIT_OBJECT_READ ||
	       kind == WAIT_OBJECT_WRITE;
}

/* Whether somebody has it in hand while others wait: a mutex or an rwlock, but no condition. */
static inline bool wait_object__is_held(uint32_t kind)
{
	return wait_object__is_futex(kind) && kind != WAIT_OBJECT_FUTEX;
}

/* "reader" or "writer": as what a thread waits for an rwlock; NULL: it is none. */
const char *wait_object__role(uint32_t kind);

/* "log_mutex", "0x7f12a0", "10.0.0.1:80", "descriptor 7", in `buf`, which it returns; "": there is
 * none. Names are a stranger's, as they are; NULL: it has none. */
char *wait_object__text(uint32_t kind, uint64_t object, const char *name, char *buf, size_t size);

/* The order of two objects of one kind: named ones by their names alone, as a file's descriptor is
 * another file's later on, and a peer has many connections. As strcmp(). */
int wait_object__compare(uint64_t a, const char *a_name, uint64_t b, const char *b_name);

/* Whether a name stands for several connections: "clients at tcp port 80" does, "tcp 10.0.0.1:80"
 * for one. */
bool wait_object__is_many(const char *name);

/* A thread that waits, or ends waits of others; its waits are those from `first` on. */
struct wait_party {
	pid_t pid, tid;
	char comm[16];
	size_t first, cnt;
};

struct single_wait {
	uint64_t begin_ns, end_ns;
	uint64_t ready_ns; /* as in struct recorded_wait */
	uint64_t object;
	const char *object_name;   /* borrowed; NULL: none */
	uint32_t party;		   /* in waits::parties */
	uint32_t thread;	   /* of the profile, whose call it was in, plus 1; 0: in none */
	uint32_t waker;		   /* in waits::parties, plus 1; 0: not known */
	uint32_t path, waker_path; /* in waits::paths, from 1 on; 0: outside of all calls */
	uint16_t call;
	uint8_t kind, reason;
};

struct waits {
	struct single_wait
		*all; /* by party, then in order of time; those of a party do not overlap */
	size_t cnt, cap;
	struct wait_party *parties;
	size_t parties_cnt, parties_cap;
	struct recorded_path *paths; /* number i is [i - 1] */
	size_t paths_cnt;
	uint64_t left_out; /* for want of room */
	/* While waits are added: parties by pid and tid. */
	uint32_t *index;
	size_t index_size;
};

#define WAITS_MAX 4000000 /* 300 MB; what comes behind is counted */

/* A wait's end of sleep: when it was woken, or, of one that was only preempted, its begin. */
static inline uint64_t single_wait__woken_ns(const struct single_wait *w)
{
	return w->end_ns - w->ready_ns;
}

/* Adds a wait in a call of the profile's thread number `thread` - 1 (0: in none). Its path numbers
 * are looked at by waits__settle() alone. Returns 0 or -ENOMEM. */
int waits__add(struct waits *w, const struct recorded_wait *wait, uint32_t thread);

/* When all have been added: sorts them. `paths` is copied. Returns 0 or -ENOMEM. */
int waits__settle(struct waits *w, const struct recorded_path *paths, size_t cnt);

void waits__free(struct waits *w); /* accepts NULL */

/* Leaves what lies in [from_ns, to_ns), with times from from_ns on. */
void waits__cut(struct waits *w, uint64_t from_ns, uint64_t to_ns);

/* The party of a thread; NULL: it has not waited, nor woken anybody. */
const struct wait_party *waits__party(const struct waits *w, pid_t pid, pid_t tid);

/* The party's last wait that begins before `at_ns`; NULL: none does. */
const struct single_wait *waits__before(const struct waits *w, const struct wait_party *party,
					uint64_t at_ns);

/* The function of a path of the waits'; UINT32_MAX: of path 0. */
uint32_t waits__function(const struct waits *w, uint32_t path);

/* And of its caller; UINT32_MAX: of outermost calls, and of path 0. */
uint32_t waits__caller(const struct waits *w, uint32_t path);

#endif
