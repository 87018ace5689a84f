// SPDX-License-Identifier: GPL-2.0-or-later
/* emul [TIMES [THREADS]]: calls each function of emul.S TIMES times in each of THREADS. */
#include <pthread.h>
#include "target.h"

#define MAX_THREADS 256

#define FUNCTIONS(X)                                                                             \
	X(from_rcx) X(from_rdx) X(from_rbx) X(from_rbp) X(from_rsi) X(from_rdi) X(from_r8)       \
	X(from_r9) X(from_r10) X(from_r11) X(from_r12) X(from_r13) X(from_r14) X(from_r15)       \
	X(from_rsp) X(to_rbx) X(to_rbp) X(to_r10) X(to_r11) X(to_r12) X(to_r13) X(to_r14)        \
	X(to_r15) X(endbr) X(calls) X(itself) X(xor) X(xor64) X(flags) X(narrow) X(constant)     \
	X(negative) X(constant64) X(signed) X(scaled) X(unbased) X(relative) X(lea32) X(across)  \
	X(loops) X(not_argument) X(not_memory) X(not_stack) X(not_narrow)

#define DECLARE(NAME) long try_##NAME(long n);
#define ROW(NAME)     {"try_" #NAME, "emul_" #NAME, try_##NAME},

FUNCTIONS(DECLARE)

static const struct {
	const char *name, *callee;
	long (*function)(long n);
} functions[] = {FUNCTIONS(ROW)};

#define FUNCTIONS_CNT (sizeof(functions) / sizeof(*functions))

static unsigned long times;

static void *work(void *arg)
{
	for (unsigned long i = 0; i < times; i++) {
		for (size_t f = 0; f < FUNCTIONS_CNT; f++) {
			if (functions[f].function((long)i) == (long)i + 1)
				continue;
			fprintf(stderr, "%s(%lu) is wrong\n", functions[f].name, i);
			abort();
		}
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 10);
	unsigned long cnt = target_arg(argc, argv, 2, 1);

	if (cnt > MAX_THREADS)
		return 2;
	for (unsigned long i = 0; i < cnt; i++) {
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	}
	for (unsigned long i = 0; i < cnt; i++)
		pthread_join(threads[i], NULL);
	for (size_t f = 0; f < FUNCTIONS_CNT; f++) {
		int calls = strcmp(functions[f].callee, "emul_itself") ? 1 : 4;

		target_count(functions[f].name, cnt * times);
		target_count(functions[f].callee, cnt * times * calls);
	}
	/* Is called by emul_calls() and emul_itself(). */
	target_count("emul_other", cnt * times * 2);
	return 0;
}
