// SPDX-License-Identifier: GPL-2.0-or-later
/* Regions in code that only C++ has: exceptions through named scopes, templates, lambdas, classes.
 * Prints "COUNT name N". */
#include <cstdio>
#include <memory>

#include "proftrace.h"

static unsigned long thrown, templated, lambdas, methods, built;

static __attribute__((noinline)) int throws(int x)
{
	PROFTRACE_REGION("throws");
	PROFTRACE_REGION("around");

	thrown++;
	if (x % 2)
		throw x;
	return x;
}

template <typename T> __attribute__((noinline)) T in_template(T x)
{
	PROFTRACE_REGION_VALUES("template", x, sizeof(T));
	templated++;
	return x;
}

enum class Kind : short { One = 1, Two };

struct Object {
	Object()
	{
		PROFTRACE_REGION("constructor");
		built++;
	}
	~Object() noexcept
	{
		PROFTRACE_MARK("destructor");
	}
	__attribute__((noinline)) int method(const void *p, Kind k) const
	{
		PROFTRACE_REGION_VALUES("method", this, p, k, true, 'c', 7u);
		methods++;
		return 0;
	}
};

int main()
{
	for (int i = 0; i < 9; i++) {
		try {
			throws(i);
		} catch (int) {
		}
		in_template(i);
		in_template(static_cast<unsigned char>(i));
		in_template(static_cast<long long>(-i));
		auto lambda = [i] {
			PROFTRACE_REGION("lambda");
			lambdas++;
			return i;
		};
		lambda();
		std::unique_ptr<Object>(new Object)->method(&lambdas, Kind::Two);
	}
	std::printf("COUNT throws %lu\nCOUNT around %lu\nCOUNT template %lu\nCOUNT lambda %lu\n"
		    "COUNT method %lu\nCOUNT constructor %lu\nCOUNT destructor %lu\n",
		    thrown, thrown, templated, lambdas, methods, built, built);
	return 0;
}
