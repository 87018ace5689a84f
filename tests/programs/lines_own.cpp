// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines that count themselves, in whatever happens to calls: recursion, threads, signals, longjmp,
 * exceptions, coroutines, tail calls, callees that return later than others. Each line with an R in
 * it prints "LINE n times" at the end. One R a line, and no two statements. Takes the number of
 * rounds.
 */
#include <coroutine>
#include <csetjmp>
#include <csignal>
#include <ctime>
#include <pthread.h>
#include <stdexcept>
#include <ucontext.h>
#include <unistd.h>
#include "target.h"

static volatile unsigned long ran[1000];
static volatile unsigned long work_done;

/* Cannot be moved, merged or left out. Not atomic: such instructions take no probe. */
#define R (ran[__LINE__] = ran[__LINE__] + 1)

TRACED void work(int n)
{
	for (int i = 0; i < n; i++)
		work_done = work_done + 1;
}

TRACED unsigned long recurse(int depth)
{
	R;
	if (!depth)
		return R;
	work(depth);
	R;
	recurse(depth - 1);
	R;
	if (depth & 1)
		recurse(depth / 2);
	return R;
}

static jmp_buf home;

TRACED void leap(int depth)
{
	R;
	if (depth == 0)
		longjmp(home, 1);
	leap(depth - 1);
	R; /* never */
}

TRACED void land(int depth)
{
	R;
	if (setjmp(home) == 0) {
		R;
		leap(depth);
		R; /* never */
	}
	R;
	work(1);
	R;
}

TRACED void throwing(int depth)
{
	R;
	if (depth == 0)
		throw std::runtime_error("thrown");
	throwing(depth - 1);
	R; /* never */
}

TRACED void catching(int depth)
{
	R;
	try {
		throwing(depth);
		R; /* never */
	} catch (const std::runtime_error &e) {
		R;
		work(2);
		R;
	}
	R;
}

TRACED int tail_end(int n)
{
	R;
	work(n);
	R;
	return n;
}

TRACED int tail_begin(int n)
{
	R;
	if (n & 1)
		return tail_end(n);
	R;
	return tail_end(n + 1);
}

TRACED void handler(int)
{
	R;
	work(1);
	R;
}

TRACED void interrupted(int times)
{
	R;
	for (int i = 0; i < times; i++) {
		R;
		raise(SIGUSR1);
		R;
	}
}

static ucontext_t contexts[2];
static char stack[1 << 16];

TRACED void yielding(void)
{
	for (;;) {
		R;
		work(1);
		swapcontext(&contexts[1], &contexts[0]);
		R;
	}
}

TRACED void resuming(int times)
{
	getcontext(&contexts[1]);
	contexts[1].uc_stack.ss_sp = stack;
	contexts[1].uc_stack.ss_size = sizeof(stack);
	makecontext(&contexts[1], yielding, 0);
	for (int i = 0; i < times; i++) {
		R;
		swapcontext(&contexts[0], &contexts[1]);
		R;
	}
}

struct Numbers {
	struct promise_type {
		int value = 0;
		Numbers get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int n)
		{
			value = n;
			return {};
		}
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};

static Numbers numbers(int cnt)
{
	R;
	for (int i = 0; i < cnt; i++) {
		R;
		co_yield i;
		R;
	}
}

TRACED void generate(int cnt)
{
	Numbers n = numbers(cnt);

	while (!n.handle.done()) {
		R;
		n.handle.resume();
		R;
	}
	n.handle.destroy();
}

/* A statement over several lines runs once, whatever it calls on the way. */
TRACED unsigned long spread(int n)
{
	R;
	return (R, recurse(n)) +
	       recurse(n + 1) *
		       recurse(n + 2);
}

/* All ways out lead to the function's end, which is on the last statement's line. */
TRACED unsigned long one_end(int n)
{
	if (n & 1)
		return 1;
	if (n & 2)
		return R;
	return R; }

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *rounds)
{
	for (int i = 0; i < *(int *)rounds; i++) {
		pthread_mutex_lock(&counting);
		R;
		recurse(3);
		catching(2);
		tail_begin(i);
		R;
		pthread_mutex_unlock(&counting);
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	int rounds;

	target_begin(&argc, &argv);
	rounds = target_arg(argc, argv, 1, 5);
	signal(SIGUSR1, handler);
	for (int i = 0; i < rounds; i++) {
		recurse(i % 6);
		land(i % 4);
		catching(i % 3);
		tail_begin(i);
		interrupted(2);
		resuming(3);
		generate(4);
		spread(1);
		one_end(i);
	}
	for (auto &t : threads)
		pthread_create(&t, nullptr, thread, &rounds);
	for (auto &t : threads)
		pthread_join(t, nullptr);
	for (int i = 0; i < 1000; i++) {
		if (ran[i])
			printf("LINE %d %lu\n", i, ran[i]);
	}
	return 0;
}
