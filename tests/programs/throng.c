// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * throng [THREADS [ROUNDS [CHILDREN]]]: each of THREADS threads makes ROUNDS rounds of what can be
 * traced: calls, a region, a mark, lines. In each of its first CHILDREN rounds it also forks a
 * child, which makes one round and ends. Prints, of the parent, "COUNT name N", "LINE n times" for
 * each line with an R in it, "PATH function>...>d N", and "CHILDREN name N", what all of the
 * children did. Each child has counted its own; one that has miscounted makes the status 1.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "target.h"

#include "proftrace.h"

enum { TURN, BEAR, A, B, C, D, STAGE, NOTED, NAMES };

static const char *const names[NAMES] = {"turn", "bear", "a", "b", "c", "d", "stage", "noted"};

#define LINES 200

struct worker {
	pthread_t thread;
	unsigned long counts[NAMES], failed;
	volatile unsigned long lines[LINES];
};

static unsigned long rounds, children;
static pthread_barrier_t all_there;

/* The line has run once more in this thread. */
#define R (w->lines[__LINE__] = w->lines[__LINE__] + 1)

TRACED void d(struct worker *w)
{
	w->counts[D]++;
	R;
}

TRACED void c(struct worker *w, int deeper)
{
	w->counts[C]++;
	if (deeper)
		c(w, deeper - 1);
	R;
	d(w);
	R;
}

TRACED unsigned long b(struct worker *w, unsigned long n)
{
	w->counts[B]++;
	for (int i = 0; i < 2; i++) {
		R;
		PROFTRACE_REGION("stage");
		w->counts[STAGE]++;
		c(w, i);
	}
	return n + 1;
}

TRACED unsigned long a(struct worker *w, unsigned long n)
{
	unsigned long more = b(w, n);

	w->counts[A]++;
	R;
	PROFTRACE_MARK("noted");
	w->counts[NOTED]++;
	return more + 1;
}

TRACED void turn(struct worker *w, unsigned long n)
{
	w->counts[TURN]++;
	R;
	if (a(w, n) != n + 2)
		w->failed++;
}

/* The child's counts begin anew, and the parent knows which they have to be. */
TRACED void bear(struct worker *w)
{
	struct worker child = {0};
	int status = -1;
	pid_t pid;

	w->counts[BEAR]++;
	pid = fork();
	if (!pid) {
		turn(&child, 1);
		_exit(child.failed || child.counts[TURN] != 1 || child.counts[D] != 3);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		w->failed++;
}

TRACED void *work(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(&all_there);
	for (unsigned long i = 0; i < rounds; i++) {
		if (i < children)
			bear(w);
		turn(w, i);
	}
	return NULL;
}

static void print(const struct worker *sum, unsigned long born)
{
	static const int of_a_turn[NAMES] = {
		[TURN] = 1, [A] = 1, [B] = 1, [C] = 3, [D] = 3, [STAGE] = 2, [NOTED] = 1,
	};

	for (int i = 0; i < NAMES; i++) {
		target_count(names[i], sum->counts[i]);
		if (born && of_a_turn[i])
			printf("CHILDREN %s %lu\n", names[i], born * of_a_turn[i]);
	}
	for (int i = 0; i < LINES; i++)
		if (sum->lines[i])
			printf("LINE %d %lu\n", i, sum->lines[i]);
	printf("PATH work>turn>a>b>c>d %lu\n", 2 * sum->counts[TURN]);
	printf("PATH work>turn>a>b>c>c>d %lu\n", sum->counts[TURN]);
}

int main(int argc, char **argv)
{
	unsigned long threads;
	struct worker *workers, sum = {0};

	target_begin(&argc, &argv);
	threads = target_arg(argc, argv, 1, 64);
	rounds = target_arg(argc, argv, 2, 100);
	children = target_arg(argc, argv, 3, 0);
	workers = calloc(threads, sizeof(*workers));
	pthread_barrier_init(&all_there, NULL, threads);
	for (unsigned long i = 0; i < threads; i++) {
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
			perror("pthread_create");
			return 1;
		}
	}
	for (unsigned long i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		sum.failed += workers[i].failed;
		for (int name = 0; name < NAMES; name++)
			sum.counts[name] += workers[i].counts[name];
		for (int line = 0; line < LINES; line++)
			sum.lines[line] += workers[i].lines[line];
	}
	print(&sum, sum.counts[BEAR]);
	return !!sum.failed;
}
