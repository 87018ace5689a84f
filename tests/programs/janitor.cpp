// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server of three threads, as anybody writes it: the main thread has a request every 2 ms, thread
 * "worker" handles it in `handle_request`, and thread "janitor" looks through the cache of sessions
 * every 60 ms. What makes one request in fifty slow is hidden: `cache::expire` keeps the cache's
 * lock for 30 ms. Its last instruction is a jump to the unlock function, so its call has ended when
 * a waiter is woken. The server ends when its input does.
 */
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <string>
#include <thread>

#include "target.h"

using std::chrono::milliseconds;

struct cache {
	std::mutex guard;
	std::map<int, std::string> sessions;

	std::string find(int user);
	void expire();
} session_cache;

struct queue {
	std::mutex guard;
	std::condition_variable filled;
	std::deque<int> requests;

	void put(int request);
	int take();
} requests;

TRACED std::string cache::find(int user)
{
	std::lock_guard<std::mutex> hold(guard);
	std::string &session = sessions[user % 100];

	if (session.empty())
		session = "session " + std::to_string(user);
	return session;
}

TRACED void cache::expire()
{
	std::lock_guard<std::mutex> hold(guard);
	volatile size_t bytes = 0;

	for (const auto &session : sessions)
		bytes = bytes + session.second.size();
	std::this_thread::sleep_for(milliseconds(30)); /* as if it wrote them */
}

void queue::put(int request)
{
	std::lock_guard<std::mutex> hold(guard);

	requests.push_back(request);
	filled.notify_one();
}

int queue::take()
{
	std::unique_lock<std::mutex> hold(guard);
	int request;

	filled.wait(hold, [this] { return !requests.empty(); });
	request = requests.front();
	requests.pop_front();
	return request;
}

TRACED size_t render(const std::string &session)
{
	std::string page;

	for (int i = 0; i < 50; i++)
		page += session + std::to_string(i);
	return page.size();
}

TRACED void handle_request(int request)
{
	volatile size_t size = render(session_cache.find(request));

	(void)size;
}

static void work()
{
	int request;

	pthread_setname_np(pthread_self(), "worker");
	while ((request = requests.take()) >= 0)
		handle_request(request);
}

static void tidy()
{
	pthread_setname_np(pthread_self(), "janitor");
	for (;;) {
		std::this_thread::sleep_for(milliseconds(60));
		session_cache.expire();
	}
}

int main()
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
	std::thread worker(work);

	std::thread(tidy).detach();
	target_say("ready");
	for (int i = 0; !poll(&input, 1, 2); i++)
		requests.put(i);
	requests.put(-1);
	worker.join();
	_exit(0);
}
