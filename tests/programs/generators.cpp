// SPDX-License-Identifier: GPL-2.0-or-later
/* generators [VALUES]: C++20 coroutines, one resumed by another, some destroyed half-way, one that
 * throws out of its body. Every ordinary call returns. */
#include <coroutine>
#include <exception>
#include <utility>
#include "target.h"

static unsigned long step_cnt, value_cnt, sum_cnt, destroyed_cnt;

struct Generator {
	struct promise_type {
		unsigned long value = 0;
		std::exception_ptr error;

		Generator get_return_object()
		{
			return Generator(std::coroutine_handle<promise_type>::from_promise(*this));
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(unsigned long v)
		{
			value = v;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			error = std::current_exception();
		}
	};

	explicit Generator(std::coroutine_handle<promise_type> h) : handle(h)
	{
	}
	Generator(Generator &&other) : handle(std::exchange(other.handle, nullptr))
	{
	}
	~Generator()
	{
		if (handle)
			handle.destroy();
		destroyed_cnt++;
	}
	/* Resumes it; whether there is a next value. */
	TRACED bool next()
	{
		value_cnt++;
		handle.resume();
		if (handle.promise().error)
			std::rethrow_exception(handle.promise().error);
		return !handle.done();
	}

	std::coroutine_handle<promise_type> handle;
};

TRACED unsigned long step(unsigned long n)
{
	step_cnt++;
	return n * n;
}

static Generator squares(unsigned long values)
{
	for (unsigned long i = 0; i < values; i++)
		co_yield step(i);
}

static Generator twice(unsigned long values, bool throws)
{
	Generator inner = squares(values);

	while (inner.next())
		co_yield 2 * inner.handle.promise().value + step(1);
	if (throws)
		throw 1;
}

TRACED unsigned long sum(unsigned long values, unsigned long take, bool throws)
{
	Generator generator = twice(values, throws);
	unsigned long result = 0;

	sum_cnt++;
	for (unsigned long i = 0; i < take && generator.next(); i++)
		result += generator.handle.promise().value;
	return result;
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long values = target_arg(argc, argv, 1, 100);

	printf("all %lu half %lu\n", sum(values, values + 1, false), sum(values, values / 2, false));
	try {
		sum(values, values + 1, true);
	} catch (int) {
		printf("caught\n");
	}
	printf("destroyed %lu\n", destroyed_cnt);
	target_count("step(unsigned long)", step_cnt);
	target_count("Generator::next()", value_cnt);
	target_count("sum(unsigned long, unsigned long, bool)", sum_cnt);
	return 0;
}
