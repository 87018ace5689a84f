// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions that are chosen at their first call, amid the dynamic linker's work for that. */
int called(int n);

typedef int function(int n);

#define BOUND(NAME, ADDS)                                          \
	static int add_##NAME(int n)                               \
	{                                                          \
		return n + ADDS;                                   \
	}                                                          \
	__attribute__((used)) static function *choose_##NAME(void) \
	{                                                          \
		return called(ADDS) ? add_##NAME : 0;              \
	}                                                          \
	int NAME(int n) __attribute__((ifunc("choose_" #NAME)));

BOUND(first, 1)
BOUND(second, 2)
BOUND(third, 3)
