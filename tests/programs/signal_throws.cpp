// SPDX-License-Identifier: GPL-2.0-or-later
// signal_throws: signal handlers throw out of functions that call nothing (-fnon-call-exceptions).
#include <csignal>
#include <cstdio>

struct Caught {
	int signal;
};

extern "C" __attribute__((noinline)) int divide(int a, int b)
{
	return a / b;
}

extern "C" __attribute__((noinline)) int load(volatile int *p)
{
	return *p;
}

static void handler(int signal)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, signal);
	sigprocmask(SIG_UNBLOCK, &mask, nullptr);
	throw Caught{signal};
}

int main()
{
	int sum = 0;

	std::signal(SIGFPE, handler);
	std::signal(SIGSEGV, handler);
	for (int i = 0; i < 3; i++) {
		try {
			sum += divide(i, 0);
		} catch (const Caught &c) {
			sum += c.signal;
		}
		try {
			sum += load(nullptr);
		} catch (const Caught &c) {
			sum += c.signal;
		}
	}
	printf("%d\n", sum);
}
