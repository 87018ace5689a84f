// SPDX-License-Identifier: GPL-2.0-or-later
/* Every way that control takes from line to line, in one program, whose lines gcov counts as well:
 * tests/e2e/test_lines.py compares. Built with and without --coverage; takes the number of rounds.
 * One line may hold a whole loop here, and one expression several lines, on purpose. */
// clang-format off
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int sum;

static int fibonacci(int n)
{
	if (n < 2)
		return n;
	return fibonacci(n - 1) +
	       fibonacci(n - 2);
}

static int even(int n);

static int odd(int n)
{
	return n ? even(n - 1) : 0;
}

static int even(int n)
{
	return n ? odd(n - 1)
		 : 1;
}

static void loops(int n)
{
	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			continue;
		if (i == 50)
			break;
		sum += i;
	}
	for (int i = 0; i < n; i++) sum += i & 3;
	while (n-- > 0) sum++;
	do { sum--; } while (sum > 100 && sum % 7);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < i; k++)
			sum ^= k;
	for (int i = 0; i < 3; i++) for (int k = 0; k < 2; k++) sum += i * k;
}

static const char *choose(int n)
{
	switch (n) {
	case 0: return "zero";
	case 1: sum++; /* fall through */
	case 2: sum += 2; break;
	case 3:
		sum += 3;
		break;
	case 4: case 5: case 6:
		for (int i = 0; i < n; i++)
			sum += i;
		break;
	case 7: return "seven";
	default:
		return n & 1 ? "odd" : "even";
	}
	return sum & 1
		? "odd sum"
		: "even sum";
}

static int gotos(int n)
{
	int tries = 0;

again:
	tries++;
	if (n > 100)
		goto out;
	n = n * 2 + 1; if (tries < 10) goto again;
	sum += tries;
out:
	return n;
}

static int length(const char *s)
{
	int n = 0; while (*s++) n++; return n;
}

static int many_lines(int a, int b)
{
	int x = length("one") +
		length("three") *
		length("seven");
	return a > b
		       && x > 3
		       && length("x") < a
		       || b == 2
	       ? fibonacci(a % 5)
	       : fibonacci(
			 length(
				 "abc"))
			 + x;
}

#define TWICE(x)  \
	do {      \
		x;\
		x;\
	} while (0)

static void macros(int n)
{
	TWICE(sum += n);
	TWICE(if (n & 1) sum++; else sum--);
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static jmp_buf home;

static void leaps(int n)
{
	if (n == 0)
		longjmp(home, 1);
	leaps(n - 1);
	sum++;
}

static int jumps(int n)
{
	volatile int times = 0;

	if (setjmp(home))
		times++;
	if (times < n)
		leaps(times);
	return times;
}

static void empty(void) {}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	int numbers[32];
	char text[64];

	for (int r = 0; r < rounds; r++) {
		loops(r * 7);
		for (int i = 0; i < 12; i++)
			sum += strlen(choose(i));
		sum += gotos(r) + many_lines(r, 2) + even(r);
		macros(r);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
			numbers[i] = (i * 37 + r) % 64;
		qsort(numbers, sizeof(numbers) / sizeof(*numbers), sizeof(*numbers), compare);
		sum += numbers[r % 32] + jumps(r);
		snprintf(text, sizeof(text), "%u",
			 sum);
		sum += length(text) +
		       even(3) +
		       length(text);
		empty();
	}
	printf("%u\n", sum);
	return 0;
}
