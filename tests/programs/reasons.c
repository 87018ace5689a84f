// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reasons [TIMES]: waits for known reasons, and on known threads. The main thread waits TIMES times
 * in each of `wait_lock` and its like, for what the thread "other" does some ms later, each in a
 * function of its own (`hand_lock` and so on), or for time, a child, a signal. Then two threads
 * spin on one CPU, in `wait_cpu`. Prints how long each has waited by this program's own clocks, in
 * ns, less what it has run meanwhile.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "target.h"

#define MS 1000000ul

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t ready, done;
static int fds[2], unix_fds[2], tcp_fds[2], timer;
static unsigned long times;

static unsigned long clock_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ul + now.tv_nsec;
}

/* How long the thread did not run so far. */
static unsigned long waited_ns(void)
{
	return clock_of(CLOCK_MONOTONIC) - clock_of(CLOCK_THREAD_CPUTIME_ID);
}

static void pause_ns(unsigned long ns)
{
	struct timespec time = {.tv_nsec = ns};

	while (nanosleep(&time, &time))
		;
}

static void fail_if(int failed)
{
	if (failed)
		exit(1);
}

/* The work of the other thread, once asked. */
TRACED void hand_lock(void)
{
	pthread_mutex_lock(&mutex);
	sem_post(&done);
	pause_ns(4 * MS);
	pthread_mutex_unlock(&mutex);
}

TRACED void hand_pipe(void)
{
	pause_ns(3 * MS);
	fail_if(write(fds[1], "", 1) != 1);
}

TRACED void hand_unix(void)
{
	pause_ns(3 * MS);
	fail_if(write(unix_fds[1], "", 1) != 1);
}

TRACED void hand_network(void)
{
	pause_ns(3 * MS);
	fail_if(send(tcp_fds[1], "", 1, 0) != 1);
}

TRACED void hand_poll(void)
{
	pause_ns(3 * MS);
	fail_if(write(fds[1], "", 1) != 1);
}

static void (*const hands[])(void) = {hand_lock, hand_pipe, hand_unix, hand_network, hand_poll};
static int asked;

static void *other(void *arg)
{
	pthread_setname_np(pthread_self(), "other");
	for (;;) {
		while (sem_wait(&ready))
			;
		if (asked < 0)
			return arg;
		hands[asked]();
	}
}

static void ask(int what)
{
	asked = what;
	sem_post(&ready);
}

TRACED void wait_lock(unsigned long *ns)
{
	unsigned long from;

	ask(0);
	while (sem_wait(&done))
		;
	from = waited_ns();
	pthread_mutex_lock(&mutex);
	*ns += waited_ns() - from;
	pthread_mutex_unlock(&mutex);
}

TRACED void wait_pipe(unsigned long *ns)
{
	unsigned long from;
	char byte;

	ask(1);
	from = waited_ns();
	fail_if(read(fds[0], &byte, 1) != 1);
	*ns += waited_ns() - from;
}

TRACED void wait_unix(unsigned long *ns)
{
	unsigned long from;
	char byte;

	ask(2);
	from = waited_ns();
	fail_if(recv(unix_fds[0], &byte, 1, 0) != 1);
	*ns += waited_ns() - from;
}

TRACED void wait_network(unsigned long *ns)
{
	unsigned long from;
	char byte;

	ask(3);
	from = waited_ns();
	fail_if(recv(tcp_fds[0], &byte, 1, 0) != 1);
	*ns += waited_ns() - from;
}

TRACED void wait_poll(unsigned long *ns)
{
	struct pollfd file = {.fd = fds[0], .events = POLLIN};
	unsigned long from;
	char byte;

	ask(4);
	from = waited_ns();
	fail_if(poll(&file, 1, 10000) != 1);
	*ns += waited_ns() - from;
	fail_if(read(fds[0], &byte, 1) != 1);
}

TRACED void wait_timer(unsigned long *ns)
{
	struct itimerspec time = {.it_value.tv_nsec = 2 * MS};
	struct timeval select_time = {.tv_usec = 1000};
	unsigned long from = waited_ns(), expired;

	pause_ns(2 * MS);
	timerfd_settime(timer, 0, &time, NULL);
	fail_if(read(timer, &expired, sizeof(expired)) != sizeof(expired));
	select(0, NULL, NULL, NULL, &select_time);
	poll(NULL, 0, 1);
	*ns += waited_ns() - from;
}

TRACED void wait_child(unsigned long *ns)
{
	unsigned long from = waited_ns();
	pid_t pid = fork();

	if (!pid) {
		pause_ns(5 * MS);
		_exit(0);
	}
	fail_if(waitpid(pid, NULL, 0) != pid);
	*ns += waited_ns() - from;
}

/* A child has us go on. */
TRACED void wait_stopped(unsigned long *ns)
{
	unsigned long from = waited_ns();
	pid_t pid = fork();

	while (!pid) { /* perhaps before we are stopped, so again */
		pause_ns(5 * MS);
		kill(getppid(), SIGCONT);
	}
	raise(SIGSTOP);
	*ns += waited_ns() - from;
	kill(pid, SIGKILL);
	fail_if(waitpid(pid, NULL, 0) != pid);
}

TRACED void wait_cpu(unsigned long *ns)
{
	unsigned long from = waited_ns(), until = clock_of(CLOCK_MONOTONIC) + times * 8 * MS;

	while (clock_of(CLOCK_MONOTONIC) < until)
		;
	__atomic_fetch_add(ns, waited_ns() - from, __ATOMIC_RELAXED);
}

static void *spin(void *ns)
{
	wait_cpu(ns);
	return NULL;
}

static void share_cpu(unsigned long *ns)
{
	pthread_t ids[2];
	cpu_set_t all, one;
	int cpu = 0;

	sched_getaffinity(0, sizeof(all), &all);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < 2; i++)
		pthread_create(&ids[i], NULL, spin, ns);
	for (int i = 0; i < 2; i++)
		pthread_join(ids[i], NULL);
	sched_setaffinity(0, sizeof(all), &all);
}

static void connect_tcp(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(at);

	fail_if(bind(listener, (void *)&at, size) || listen(listener, 1) ||
		getsockname(listener, (void *)&at, &size));
	tcp_fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	fail_if(connect(tcp_fds[1], (void *)&at, size));
	tcp_fds[0] = accept(listener, NULL, NULL);
	fail_if(tcp_fds[0] < 0);
}

static const struct {
	const char *name;
	void (*wait)(unsigned long *ns);
} waits[] = {
	{"lock", wait_lock},	   {"pipe", wait_pipe},	      {"unix", wait_unix},
	{"network", wait_network}, {"poll", wait_poll},	      {"timer", wait_timer},
	{"child", wait_child},	   {"stopped", wait_stopped},
};

int main(int argc, char **argv)
{
	unsigned long ns, cpu_ns = 0;
	pthread_t thread;

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 20);
	fail_if(pipe(fds) || socketpair(AF_UNIX, SOCK_STREAM, 0, unix_fds));
	connect_tcp();
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	sem_init(&ready, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&thread, NULL, other, NULL);
	for (unsigned long i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		ns = 0;
		for (unsigned long k = 0; k < times; k++)
			waits[i].wait(&ns);
		target_count(waits[i].name, ns);
	}
	ask(-1);
	pthread_join(thread, NULL);
	share_cpu(&cpu_ns);
	target_count("cpu", cpu_ns);
	return 0;
}
