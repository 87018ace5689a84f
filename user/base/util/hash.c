// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <sys/random.h>

#include "util/hash.h"

static uint64_t key;

/* Early at boot the kernel has no random bytes yet: the key stays 0. */
static void make_key(void)
{
	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) != sizeof(key))
		key = 0;
}

uint64_t hash__keyed(const void *data, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint64_t hash;

	pthread_once(&once, make_key);
	hash = key ^ size;
	for (const char *at = data; size;) {
		uint64_t bytes = 0;
		size_t block = size < sizeof(bytes) ? size : sizeof(bytes);

		memcpy(&bytes, at, block);
		hash = hash__mix(hash ^ bytes);
		at += block;
		size -= block;
	}
	return hash;
}
