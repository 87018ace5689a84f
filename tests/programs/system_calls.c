// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * system_calls [--wait] [ROUNDS]: makes system calls of which it knows the number, in threads,
 * forked and vforked children, and some that signals interrupt. "CALL getppid N" are calls, "ERROR
 * rmdir ENOENT N" those that have failed. A read that begins anew behind a handler counts once.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "target.h"

#define THREADS 3
#define TIMES	50

static int empty[2], full[2];
static unsigned long reads, interrupted;

TRACED void ask(int times)
{
	for (int i = 0; i < times; i++)
		syscall(SYS_getppid);
}

TRACED void fail(int times)
{
	char c;
	const struct iovec place = {&c, 1};

	for (int i = 0; i < times; i++) {
		rmdir("/nonexistent/folder");
		preadv(empty[0], &place, 1, 0); /* a pipe has no places */
	}
}

static void *thread(void *arg)
{
	ask(TIMES);
	return arg;
}

TRACED void make_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

TRACED void make_children(char *self)
{
	char *const leaf[] = {self, "leaf", NULL};
	pid_t pid = fork();

	if (!pid) {
		ask(TIMES);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	pid = vfork();
	if (!pid) {
		syscall(SYS_getppid);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	pid = fork();
	if (!pid) {
		execv(self, leaf);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void on_alarm(int sig)
{
}

static void on_alarm_write(int sig)
{
	if (write(full[1], "x", 1) != 1)
		_exit(1);
}

/* A read that a signal ends, and one that goes on behind its handler, which brings what to read. */
TRACED void be_interrupted(void)
{
	const struct itimerval often = {{0, 3000}, {0, 3000}}, once = {{0, 0}, {0, 3000}}, never = {0};
	struct sigaction action = {.sa_handler = on_alarm};
	char c;
	const struct iovec place = {&c, 1};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	reads++;
	interrupted += readv(empty[0], &place, 1) < 0 && errno == EINTR;
	setitimer(ITIMER_REAL, &never, NULL);
	action.sa_handler = on_alarm_write;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &once, NULL);
	reads++;
	if (readv(full[0], &place, 1) != 1)
		_exit(1);
}

TRACED void work(char *self, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		ask(TIMES);
		fail(TIMES);
		make_threads();
		make_children(self);
		be_interrupted();
	}
}

int main(int argc, char **argv)
{
	int rounds;

	if (argc > 1 && !strcmp(argv[1], "leaf"))
		return 0;
	if (pipe(empty) || pipe(full))
		return 1;
	target_begin(&argc, &argv);
	rounds = target_arg(argc, argv, 1, 2);
	work(argv[0], rounds);
	printf("CALL getppid %d\n", rounds * (TIMES + THREADS * TIMES + TIMES + 1));
	printf("CALL rmdir %d\nERROR rmdir ENOENT %d\n", rounds * TIMES, rounds * TIMES);
	printf("CALL preadv %d\nERROR preadv ESPIPE %d\n", rounds * TIMES, rounds * TIMES);
	printf("CALL readv %lu\nERROR readv EINTR %lu\n", reads, interrupted);
	printf("CALL vfork %d\nCALL execve %d\n", rounds, rounds);
	printf("CALL exit %d\nCALL exit_group %d\n", rounds * THREADS, rounds * 2);
	return 0;
}
