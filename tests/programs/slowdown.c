// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slowdown [N]: a server that handles about 1,000 requests a second in `handle`, each within a
 * fraction of a millisecond. From SIGUSR1 on every N-th (default: each) takes 8 ms longer, in
 * `wait_for_disk` below `query`; SIGUSR2 makes it healthy again. It says "slow" and "healthy" when
 * it begins to be so, and ends when its input does.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include "target.h"

#define PAUSE_NS 800000
#define SLOW_NS	 8000000

static volatile sig_atomic_t mode = -1;
static unsigned long handle_cnt, wait_for_disk_cnt;

static void on_signal(int sig)
{
	mode = sig == SIGUSR1;
}

static inline __attribute__((always_inline)) void sleep_ns(long ns)
{
	struct timespec left = {0, ns};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

TRACED void parse(void)
{
	for (volatile int i = 0; i < 3000; i++)
		;
}

TRACED void wait_for_disk(void)
{
	wait_for_disk_cnt++;
	sleep_ns(SLOW_NS);
}

TRACED void query(int slow)
{
	for (volatile int i = 0; i < 3000; i++)
		;
	if (slow)
		wait_for_disk();
}

TRACED void reply(void)
{
	for (volatile int i = 0; i < 1000; i++)
		;
}

TRACED void handle(int slow)
{
	handle_cnt++;
	parse();
	query(slow);
	reply();
}

/* Whether the input has ended. */
static int is_over(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	char c;

	return poll(&in, 1, 0) > 0 && read(STDIN_FILENO, &c, 1) <= 0;
}

int main(int argc, char **argv)
{
	unsigned long every = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	int slow = 0;

	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	target_say("ready");
	for (unsigned long i = 0; !is_over(); i++) {
		if (mode >= 0) {
			slow = mode;
			mode = -1;
			target_say(slow ? "slow" : "healthy");
		}
		handle(slow && i % every == 0);
		sleep_ns(PAUSE_NS);
	}
	printf("COUNT handle %lu\nCOUNT wait_for_disk %lu\n", handle_cnt, wait_for_disk_cnt);
	return 0;
}
