// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * throwing [FRAMES [THREADS]]: threads throw over FRAMES frames without a pause, so that a profiler
 * that comes or goes does so in the midst of it. Up to a line on stdin; says after each 1,000
 * catches of the first thread that it is "alive". Prints whether each throw was caught and each
 * frame's destructor ran; how often depends on the time it had.
 */
#include <atomic>
#include <thread>
#include <vector>
#include "target.h"

static std::atomic<bool> stop;
static std::atomic<unsigned long> thrown_cnt, caught_cnt, entered_cnt, destroyed_cnt;

struct Guard {
	~Guard()
	{
		destroyed_cnt++;
	}
};

TRACED void descend(unsigned long n)
{
	Guard guard;

	entered_cnt++;
	if (n > 1) {
		descend(n - 1);
	} else {
		thrown_cnt++;
		throw n;
	}
}

TRACED void around(unsigned long frames)
{
	try {
		descend(frames);
	} catch (unsigned long) {
		caught_cnt++;
	}
}

static void work(unsigned long frames, bool says)
{
	for (unsigned long i = 1; !stop; i++) {
		around(frames);
		if (says && i % 1000 == 0)
			target_say("alive");
	}
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	char line[64];

	target_begin(&argc, &argv);
	unsigned long frames = target_arg(argc, argv, 1, 10);

	for (unsigned long i = 0; i < target_arg(argc, argv, 2, 2); i++)
		threads.emplace_back(work, frames, i == 0);
	target_read_line(line, sizeof(line));
	stop = true;
	for (auto &thread : threads)
		thread.join();
	printf("caught %s, destroyed %s\n", caught_cnt == thrown_cnt ? "all" : "not all",
	       destroyed_cnt == entered_cnt ? "all" : "not all");
	return caught_cnt != thrown_cnt || destroyed_cnt != entered_cnt;
}
