// SPDX-License-Identifier: GPL-2.0-or-later
/* Ten times the thread "holder" holds the lock of the fourth of five shards for 5 ms, in `hold`,
 * while the main thread waits for it, in `take`. */
#include <chrono>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <thread>

#include "target.h"

namespace store {
struct Shard {
	long requests[12];
	std::mutex lock;
};

struct Pool {
	char name[32];
	Shard shards[5];
} pool;
} // namespace store

static sem_t asked, held;

TRACED void hold(int shard)
{
	std::lock_guard<std::mutex> guard(store::pool.shards[shard].lock);

	sem_post(&held);
	std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TRACED void take(int shard)
{
	std::lock_guard<std::mutex> guard(store::pool.shards[shard].lock);

	store::pool.shards[shard].requests[0]++;
}

static void *serve(void *)
{
	pthread_setname_np(pthread_self(), "holder");
	for (int i = 0; i < 10; i++) {
		sem_wait(&asked);
		hold(3);
	}
	return nullptr;
}

int main()
{
	pthread_t holder;

	sem_init(&asked, 0, 0);
	sem_init(&held, 0, 0);
	if (pthread_create(&holder, nullptr, serve, nullptr))
		return 1;
	for (int i = 0; i < 10; i++) {
		sem_post(&asked);
		sem_wait(&held);
		take(3);
	}
	pthread_join(holder, nullptr);
	return 0;
}
