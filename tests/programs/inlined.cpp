// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inlined [TIMES]: CPU time in functions that the compiler has put into others. `traced` has all of
 * its own in stir(), which spin() is part of, and in Mixer::mix(), which calls `leaf`; main() has
 * some in serve(), which calls `traced`. Prints how often that was called.
 */
#include "target.h"

#define ALWAYS __attribute__((always_inline)) static inline
#define ROUNDS 30000

/* In registers alone. */
ALWAYS unsigned long spin(unsigned long rounds)
{
	unsigned long product = 1;

	for (unsigned long i = 0; i < rounds; i++) {
		product *= 3;
		__asm__ volatile("" : "+r"(product));
	}
	return product;
}

ALWAYS unsigned long stir(unsigned long rounds)
{
	unsigned long sum = spin(2 * rounds);

	for (unsigned long i = 0; i < rounds; i++) {
		sum += i;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

extern "C" TRACED unsigned long leaf(unsigned long rounds)
{
	return spin(rounds);
}

namespace kitchen
{
template <int N> struct Mixer {
	unsigned long sum;

	__attribute__((always_inline)) void mix(unsigned long rounds)
	{
		for (int i = 0; i < N; i++)
			sum += leaf(rounds);
	}
};
}

extern "C" TRACED unsigned long traced(unsigned long rounds)
{
	kitchen::Mixer<2> mixer = {stir(rounds)};

	mixer.mix(rounds);
	return mixer.sum;
}

ALWAYS void serve(unsigned long times)
{
	for (unsigned long i = 0; i < times; i++) {
		/* No clock keeps step with that. */
		traced(ROUNDS / 2 + i * 7919 % ROUNDS);
		spin(ROUNDS);
	}
}

int main(int argc, char **argv)
{
	unsigned long times;

	target_begin(&argc, &argv);
	times = target_arg(argc, argv, 1, 1000);
	serve(times);
	target_count("traced", times);
	return 0;
}
